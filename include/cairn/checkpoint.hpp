/* Checkpoints for C++20, over cairn/checkpoint.h, which says what each call promises.
 *
 *   cairn::Checkpoint checkpoint("field", MPI_Comm_c2f(MPI_COMM_WORLD));
 *   checkpoint.define("temperature", {rows.data(), {count + 2, 512}},
 *                     cairn::Block{.global = {512, 512}, .offset = {first, 0}, .halo = {{1, 1}}});
 *   checkpoint.define("time", time);
 *   int64_t step = 0;
 *   if (checkpoint.restart_test()) step = checkpoint.read().number;
 *   while (++step <= steps) {
 *     compute(rows);
 *     if (checkpoint.need(step)) checkpoint.write(step);
 *   }
 *   checkpoint.close();
 *
 * A call that fails throws cairn::Error, whose code() is the errno and whose text names variable
 * and ranks. Memory that is defined must stay valid until undefine, close, or the next define of
 * the name. Everything is inline: the library's ABI is that of C.
 */
#ifndef CAIRN_CHECKPOINT_HPP
#define CAIRN_CHECKPOINT_HPP

#include <array>
#include <cerrno>
#include <chrono>
#include <complex>
#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "cairn/checkpoint.h"

namespace cairn {
/* The types of this header are not those inside of the library. */
inline namespace cpp {

class Error : public std::system_error {
 public:
  Error(int number, const std::string& text)
      : std::system_error(number, std::generic_category(), text), text_(text) {}
  /* The library's text alone. */
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

namespace detail {

inline int check(int result) {
  if (result < 0) throw Error(-result, cairn_last_error());
  return result;
}

template <typename T>
struct is_complex : std::false_type {};
template <typename T>
struct is_complex<std::complex<T>> : std::true_type {};

/* enum cairn_type of a C++ type; what has no type of its own is opaque bytes. */
template <typename T>
constexpr uint32_t type_of() {
  constexpr auto by_size = [](uint32_t first) {
    constexpr uint32_t step = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return sizeof(T) > 8 ? uint32_t{CAIRN_TYPE_OPAQUE} : first + step;
  };
  if constexpr (std::is_same_v<T, bool>)
    return CAIRN_TYPE_LOGICAL8;
  else if constexpr (std::is_same_v<T, char>)
    return CAIRN_TYPE_CHARACTER;
  else if constexpr (std::is_integral_v<T>)
    return by_size(std::is_signed_v<T> ? CAIRN_TYPE_INT8 : CAIRN_TYPE_UINT8);
  else if constexpr (std::is_same_v<T, float>)
    return CAIRN_TYPE_FLOAT32;
  else if constexpr (std::is_same_v<T, double>)
    return CAIRN_TYPE_FLOAT64;
  else if constexpr (std::is_same_v<T, long double>)
    return __LDBL_MANT_DIG__ == 64 ? CAIRN_TYPE_FLOAT80 : CAIRN_TYPE_FLOAT128;
  else if constexpr (is_complex<T>::value && sizeof(T) == 8)
    return CAIRN_TYPE_COMPLEX64;
  else if constexpr (is_complex<T>::value && sizeof(T) == 16)
    return CAIRN_TYPE_COMPLEX128;
  else if constexpr (is_complex<T>::value)
    return __LDBL_MANT_DIG__ == 64 ? CAIRN_TYPE_COMPLEX_FLOAT80 : CAIRN_TYPE_COMPLEX_FLOAT128;
  else
    return CAIRN_TYPE_OPAQUE;
}

template <typename T>
concept element =
    !std::is_const_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T> &&
    !std::is_invocable_v<T&> && (std::is_trivially_copyable_v<T> || is_complex<T>::value);

/* As std::mdspan, and the like of it. */
template <typename M>
concept strided = requires(const M& m) {
  { m.rank() } -> std::convertible_to<size_t>;
  { m.extent(0) } -> std::convertible_to<int64_t>;
  { m.stride(0) } -> std::convertible_to<int64_t>;
  {*m.data_handle()};
};

template <typename From>
void put(const From& values, int64_t* to) {
  if (values.size() > CAIRN_MAX_DIMENSIONS)
    throw Error(EOVERFLOW, "array: more than 15 dimensions");
  for (const auto value : values) *to++ = value;
}

}  // namespace detail

/* An array of this process, halo included. */
class Array {
 public:
  /* A scalar. */
  template <detail::element T>
  requires(!detail::strided<T> && !std::is_same_v<T, Array> && !std::is_same_v<T, cairn_array>)
      Array(T& scalar)
      : c_(of<T>(&scalar)) {}  // NOLINT(google-explicit-constructor)

  /* One dimension. */
  template <detail::element T, size_t extent>
  Array(std::span<T, extent> elements)  // NOLINT(google-explicit-constructor)
      : c_(of<T>(elements.data())) {
    c_.dimensions = 1;
    c_.extent[0] = static_cast<int64_t>(elements.size());
  }
  template <detail::element T>
  Array(std::vector<T>& elements)  // NOLINT(google-explicit-constructor)
      : Array(std::span<T>(elements)) {}
  template <detail::element T, size_t count>
  Array(std::array<T, count>& elements)  // NOLINT(google-explicit-constructor)
      : Array(std::span<T, count>(elements)) {}
  template <detail::element T, size_t count>
  Array(T (&elements)[count])  // NOLINT(google-explicit-constructor)
      : Array(std::span<T, count>(elements)) {}

  /* The last dimension is contiguous, or `stride_bytes` says how far elements lie apart. */
  template <detail::element T>
  Array(T* first, std::initializer_list<int64_t> extents,
        std::initializer_list<int64_t> stride_bytes = {})
      : c_(of<T>(first)) {
    if (stride_bytes.size() != 0 && stride_bytes.size() != extents.size())
      throw Error(EINVAL, "array: expected one stride for each dimension");
    c_.dimensions = static_cast<uint32_t>(extents.size());
    detail::put(extents, c_.extent);
    detail::put(stride_bytes, c_.stride);
  }
  /* The same, of elements that all lie in the span. */
  template <detail::element T, size_t extent>
  Array(std::span<T, extent> elements, std::initializer_list<int64_t> extents)
      : Array(elements.data(), extents) {
    uint64_t count = 1;
    for (const int64_t one : extents)
      if (__builtin_mul_overflow(count, one, &count)) count = UINT64_MAX;
    if (count > elements.size()) throw Error(EINVAL, "array: extends beyond its span");
  }

  /* std::mdspan, and the like of it. */
  template <detail::strided M>
  Array(const M& view)  // NOLINT(google-explicit-constructor)
      : c_(of(&*view.data_handle())) {
    if (view.rank() > CAIRN_MAX_DIMENSIONS)
      throw Error(EOVERFLOW, "array: more than 15 dimensions");
    c_.dimensions = static_cast<uint32_t>(view.rank());
    for (size_t k = 0; k < view.rank(); ++k) {
      c_.extent[k] = static_cast<int64_t>(view.extent(k));
      c_.stride[k] = static_cast<int64_t>(view.stride(k)) * static_cast<int64_t>(c_.element_size);
    }
  }

  /* As C describes it. */
  explicit Array(const cairn_array& array) : c_(array) {}

  /* The elements mean something else than their C++ type says, as float16 in uint16_t. */
  [[nodiscard]] Array as(cairn_type type) const {
    Array other = *this;
    other.c_.type = type;
    return other;
  }
  [[nodiscard]] const cairn_array& c() const noexcept { return c_; }

 private:
  template <detail::element T>
  static cairn_array of(T* first) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = detail::type_of<T>();
    array.element_size = sizeof(T);
    array.base = first;
    return array;
  }
  cairn_array c_;
};

struct Halo {
  Halo(uint16_t both) : low(both), high(both) {}  // NOLINT(google-explicit-constructor)
  Halo(uint16_t before, uint16_t behind) : low(before), high(behind) {}
  uint16_t low;
  uint16_t high;
};

/* A box of a global array. Dimensions that are not named have 0. */
struct Block {
  std::vector<int64_t> global;
  std::vector<int64_t> offset{};
  std::vector<Halo> halo{};    /* by dimension of this process's array */
  std::vector<uint8_t> axis{}; /* the global dimension along which it runs; none: the same */
  uint32_t owner = 0;          /* CAIRN_OWNER_... */
};

/* A global array that is dealt out in blocks to a grid of all ranks, as by ScaLAPACK. The array is
 * what this rank is dealt. By dimension of the global array: */
struct Darray {
  std::vector<int64_t> global;
  std::vector<uint32_t> processes;
  std::vector<int64_t> block{};       /* elements of a block; none: as CAIRN_DISTRIBUTE_... says */
  std::vector<uint32_t> distribute{}; /* CAIRN_DISTRIBUTE_...; none: CYCLIC */
  std::vector<uint8_t> axis{};        /* as of Block */
  uint32_t rank_order = 0;            /* CAIRN_RANKS_FORTRAN: the first coordinate moves fastest */
};

/* An array of one dimension of which each rank has any number of elements, another one in each
 * version. The vector is resized when it is filled. */
struct Counted {
  uint32_t kind = CAIRN_PER_RANK; /* or CAIRN_RAGGED, CAIRN_PARTICLES */
  std::string over{};             /* names of variables, as cairn_distribution has them */
  std::string key{};
};

struct Options {
  uint32_t flags = 0;                      /* CAIRN_CHECKPOINT_..., such as PARTNER */
  cairn_pool* pool = nullptr;              /* none: as cairn_checkpoint_init() finds it */
  std::string code_version{};              /* stored with each version */
  uint32_t keep = 0;                       /* the newest n versions stay */
  uint64_t keep_multiple = 0;              /* and those whose number is a multiple */
  std::chrono::nanoseconds keep_period{0}; /* and the newest of each period */
  std::chrono::nanoseconds interval{0};    /* between versions, for need() */
  uint32_t max_attempts = 0;
  uint32_t block_size = 0;
  uint32_t rank = 0; /* without a communicator: processes of one host, */
  uint32_t ranks = 0;
  std::string job{}; /* and a text that they alone have */
  std::chrono::milliseconds timeout{0};
  std::string lower{};                              /* a directory that outlives the nodes */
  uint32_t lower_keep = 0;                          /* versions that stay there */
  uint32_t lower_multiple = 0; /* of numbers of versions that go there in the background */
  std::string halt_file{};                          /* should_exit() says yes once it is there */
  std::chrono::system_clock::time_point end_time{}; /* of the job */
  std::chrono::nanoseconds exit_margin{0};          /* what it needs besides a last checkpoint */
  std::chrono::nanoseconds mtbf{0};                 /* mean time between failures, for advice */
};

struct Details {
  bool optional = false; /* a restart from a version without it is no error */
  std::vector<std::string> aliases{};
  const void* default_value = nullptr;       /* one element, for what is missing */
  std::vector<cairn_attribute> attributes{}; /* see text_attribute() */
};

/* Both texts stay the caller's until the call that takes the attribute has returned. */
inline cairn_attribute text_attribute(const char* key, std::string_view text) {
  return {key, CAIRN_TYPE_CHARACTER, static_cast<uint32_t>(text.size()), text.data()};
}

/* What a version holds under a name. */
struct Variable {
  std::string name;
  uint32_t type = 0; /* enum cairn_type */
  uint64_t element_size = 0;
  std::vector<int64_t> global;
  bool optional = false;
  uint32_t kind = 0; /* enum cairn_distribution_kind */
  std::string over{};
  std::string key{};
};

using Info = cairn_checkpoint_info;

class Checkpoint {
 public:
  /* A version that is being written. */
  class Handle {
   public:
    [[nodiscard]] bool test(uint32_t level = CAIRN_LEVEL_LOCAL) const {
      return detail::check(cairn_checkpoint_test(of_, number_, level, nullptr)) == 1;
    }
    void wait(uint32_t level = CAIRN_LEVEL_LOCAL, std::chrono::milliseconds timeout = {}) const {
      detail::check(
          cairn_checkpoint_wait(of_, number_, level, static_cast<uint32_t>(timeout.count())));
    }
    [[nodiscard]] cairn_checkpoint_progress progress() const {
      cairn_checkpoint_progress progress{};
      progress.struct_size = sizeof progress;
      detail::check(cairn_checkpoint_test(of_, number_, CAIRN_LEVEL_STAGED, &progress));
      return progress;
    }

   private:
    friend class Checkpoint;
    Handle(cairn_checkpoint* of, cairn_checkpoint_handle number) : of_(of), number_(number) {}
    cairn_checkpoint* of_;
    cairn_checkpoint_handle number_;
  };

  /* Collective. `communicator`: MPI_Comm_c2f() of one, or none without MPI. */
  explicit Checkpoint(const std::string& name, int communicator = CAIRN_NO_COMMUNICATOR,
                      const Options& options = {}) {
    cairn_checkpoint_options c{};
    c.struct_size = sizeof c;
    c.flags = options.flags;
    c.pool = options.pool;
    c.code_version = options.code_version.empty() ? nullptr : options.code_version.c_str();
    c.rank = options.rank;
    c.ranks = options.ranks;
    c.job = options.job.empty() ? nullptr : options.job.c_str();
    c.timeout_ms = static_cast<uint32_t>(options.timeout.count());
    c.keep = options.keep;
    c.keep_multiple = options.keep_multiple;
    c.keep_period_ns = static_cast<uint64_t>(options.keep_period.count());
    c.interval_ns = static_cast<uint64_t>(options.interval.count());
    c.max_attempts = options.max_attempts;
    c.block_size = options.block_size;
    c.lower = options.lower.empty() ? nullptr : options.lower.c_str();
    c.lower_keep = options.lower_keep;
    c.lower_multiple = options.lower_multiple;
    c.halt_file = options.halt_file.empty() ? nullptr : options.halt_file.c_str();
    c.end_time_ns = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(options.end_time.time_since_epoch())
            .count());
    c.exit_margin_ns = static_cast<uint64_t>(options.exit_margin.count());
    c.mtbf_ns = static_cast<uint64_t>(options.mtbf.count());
    detail::check(cairn_checkpoint_init(name.c_str(), communicator, &c, &c_));
  }
  /* Closes; an error is lost. */
  ~Checkpoint() { cairn_checkpoint_finalize(c_); }
  Checkpoint(Checkpoint&& other) noexcept
      : c_(std::exchange(other.c_, nullptr)),
        getters_(std::move(other.getters_)),
        collected_(std::move(other.collected_)),
        observer_(std::move(other.observer_)) {}
  Checkpoint& operator=(Checkpoint&& other) noexcept {
    std::swap(c_, other.c_);
    std::swap(getters_, other.getters_);
    std::swap(collected_, other.collected_);
    std::swap(observer_, other.observer_);
    return *this;
  }
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  /* Collective; waits until the last version is committed or has failed. */
  void close() { detail::check(cairn_checkpoint_finalize(std::exchange(c_, nullptr))); }

  /* All ranks hold the same. */
  void define(const std::string& name, const Array& array, const Details& details = {}) {
    register_array(always, name, array, replicated(), details, nullptr);
  }
  void define(const std::string& name, const Array& array, const Block& block,
              const Details& details = {}) {
    register_array(always, name, array, place(array, block), details, nullptr);
  }
  void define(const std::string& name, const Array& array, const Darray& darray,
              const Details& details = {}) {
    register_array(always, name, array, place(array, darray), details, nullptr);
  }
  /* `where` says where the array is when the library asks; its shape stays. */
  void define(const std::string& name, std::function<Array()> where, const Details& details = {}) {
    const Array now = where();
    register_array(always, name, now, replicated(), details, fixed(std::move(where)));
  }
  void define(const std::string& name, std::function<Array()> where, const Block& block,
              const Details& details = {}) {
    const Array now = where();
    register_array(always, name, now, place(now, block), details, fixed(std::move(where)));
  }
  void define(const std::string& name, std::function<Array()> where, const Darray& darray,
              const Details& details = {}) {
    const Array now = where();
    register_array(always, name, now, place(now, darray), details, fixed(std::move(where)));
  }
  template <detail::element T>
  void define(const std::string& name, std::vector<T>& elements, const Counted& counted,
              const Details& details = {}) {
    register_array(always, name, elements, place(counted), details, resized(&elements));
  }
  void undefine(const std::string& name) {
    detail::check(cairn_checkpoint_undefine(c_, name.c_str()));
    getters_.erase(name);
  }

  /* A version of what is defined and of what write_var() adds, which stays as it is until
   * commit(). */
  void begin(int64_t version) {
    detail::check(cairn_checkpoint_begin(c_, version));
    collected_.clear();
  }
  void write_var(const std::string& name, const Array& array, const Details& details = {}) {
    register_array(once, name, array, replicated(), details, nullptr);
  }
  void write_var(const std::string& name, const Array& array, const Block& block,
                 const Details& details = {}) {
    register_array(once, name, array, place(array, block), details, nullptr);
  }
  void write_var(const std::string& name, const Array& array, const Darray& darray,
                 const Details& details = {}) {
    register_array(once, name, array, place(array, darray), details, nullptr);
  }
  template <detail::element T>
  void write_var(const std::string& name, std::vector<T>& elements, const Counted& counted,
                 const Details& details = {}) {
    register_array(once, name, elements, place(counted), details, resized(&elements));
  }
  /* Collective; waits until the version is committed. */
  void commit() {
    const int result = cairn_checkpoint_commit(c_);
    if (result == 0) collected_.clear();
    check(result);
  }

  /* Collective; waits until the version is committed. */
  void write(int64_t version) { check(cairn_checkpoint_write(c_, version)); }
  /* Collective; on return the arrays may change. */
  [[nodiscard]] Handle iwrite(int64_t version) {
    cairn_checkpoint_handle number = 0;
    check(cairn_checkpoint_iwrite(c_, version, &number));
    return {c_, number};
  }

  /* Collective. Nothing: there is no such version. */
  [[nodiscard]] std::optional<Info> restart_test(int64_t version = CAIRN_CHECKPOINT_LATEST) {
    Info info = empty_info();
    const int found = check(cairn_checkpoint_restart_test(c_, version, &info));
    return found == 1 ? std::optional<Info>(info) : std::nullopt;
  }
  /* Collective. `flags`: CAIRN_READ_HALO. */
  Info read(int64_t version = CAIRN_CHECKPOINT_LATEST, uint32_t flags = 0) {
    Info info = empty_info();
    check(cairn_checkpoint_read(c_, version, flags, &info));
    return info;
  }
  /* All of a stored variable, or the box at `offset` that has the array's extents. */
  void read_var(const std::string& name, const Array& array,
                int64_t version = CAIRN_CHECKPOINT_LATEST,
                const std::vector<int64_t>& offset = {}) {
    if (!offset.empty() && offset.size() != array.c().dimensions)
      throw Error(EINVAL, "variable '" + name + "': expected one offset for each dimension");
    detail::check(cairn_checkpoint_read_var(
        c_, version, name.c_str(), offset.empty() ? nullptr : offset.data(),
        offset.empty() ? nullptr : array.c().extent, &array.c()));
  }
  /* The committed versions, newest first, without their attributes. */
  [[nodiscard]] std::vector<Info> versions() const {
    std::vector<Info> all;
    const auto note = [](void* context, const Info* info) {
      Info copy = *info;
      copy.attributes = nullptr; /* they are valid here only */
      copy.attribute_count = 0;
      static_cast<std::vector<Info>*>(context)->push_back(copy);
      return 0;
    };
    detail::check(cairn_checkpoint_list(c_, note, &all));
    return all;
  }

  /* What a version holds, by name. */
  [[nodiscard]] std::vector<Variable> variables(int64_t version = CAIRN_CHECKPOINT_LATEST) const {
    std::vector<Variable> all;
    const auto note = [](void* context, const cairn_checkpoint_variable* c) {
      static_cast<std::vector<Variable>*>(context)->push_back(
          {c->name,
           c->type,
           c->element_size,
           {c->global, c->global + c->dimensions},
           (c->flags & CAIRN_OPTIONAL) != 0,
           c->kind,
           c->over == nullptr ? "" : c->over,
           c->key == nullptr ? "" : c->key});
      return 0;
    };
    detail::check(cairn_checkpoint_variables(c_, version, note, &all));
    return all;
  }
  /* How many elements of an array that is Counted each rank had that wrote the version. */
  [[nodiscard]] std::vector<uint64_t> counts(const std::string& name,
                                             int64_t version = CAIRN_CHECKPOINT_LATEST) const {
    size_t ranks = 1;
    for (const Info& info : versions()) {
      if (version != CAIRN_CHECKPOINT_LATEST && info.number != version) continue;
      ranks = info.ranks;
      break;
    }
    std::vector<uint64_t> all(ranks);
    detail::check(cairn_checkpoint_counts(c_, version, name.c_str(), all.data(),
                                          static_cast<uint32_t>(ranks)));
    return all;
  }
  /* Compares all bytes that this host has of a version with their checksums. */
  void verify(int64_t version = CAIRN_CHECKPOINT_LATEST) const {
    detail::check(cairn_checkpoint_verify(c_, version, nullptr));
  }
  /* Collective in a run. `flags`: of a context that looks, CAIRN_DROP_... */
  void drop(int64_t version, uint32_t flags = 0) {
    detail::check(cairn_checkpoint_drop(c_, version, flags));
  }
  using Observer = std::function<void(int64_t version, const cairn_checkpoint_progress&)>;
  /* Is called when a version has reached a level or failed, in place of the one before; it must not
   * use the checkpoint, and what it throws ends the program. */
  void observe(Observer observer) {
    auto kept = observer ? std::make_unique<Observer>(std::move(observer)) : nullptr;
    const auto tell = [](void* context, cairn_checkpoint_handle, int64_t version,
                         const cairn_checkpoint_progress* progress) noexcept {
      (*static_cast<Observer*>(context))(version, *progress);
    };
    detail::check(cairn_checkpoint_observe(c_, kept ? +tell : nullptr, kept.get()));
    observer_ = std::move(kept);
  }
  /* What is noted of each version from now on. */
  void set_attributes(const std::vector<cairn_attribute>& attributes) {
    detail::check(cairn_checkpoint_set_attributes(c_, attributes.data(),
                                                  static_cast<uint32_t>(attributes.size())));
  }

  /* Is a checkpoint due? The same answer on all ranks. */
  [[nodiscard]] bool need(int64_t step) {
    return detail::check(cairn_checkpoint_need(c_, step)) == 1;
  }

  /* Collective. Should the run write a last checkpoint and end? `outlook`: why, or NULL. */
  [[nodiscard]] bool should_exit(cairn_checkpoint_outlook* outlook = nullptr) {
    return detail::check(cairn_checkpoint_should_exit(c_, outlook)) == 1;
  }

  /* For the calls of C. */
  [[nodiscard]] cairn_checkpoint* c() const noexcept { return c_; }

 private:
  /* `count`: of elements to fill, of an array that is Counted. */
  using Where = std::function<Array(const int64_t* count)>;
  struct Getter {
    Where where;
    std::exception_ptr raised;
  };
  using Getters = std::map<std::string, std::unique_ptr<Getter>>;
  enum Registration : uint8_t { always, once };

  static Where fixed(std::function<Array()> where) {
    return [where = std::move(where)](const int64_t*) { return where(); };
  }
  template <typename T>
  static Where resized(std::vector<T>* elements) {
    return [elements](const int64_t* count) {
      if (count != nullptr) elements->resize(static_cast<size_t>(*count));
      return Array(*elements);
    };
  }

  static Info empty_info() {
    Info info{};
    info.struct_size = sizeof info;
    return info;
  }

  static cairn_distribution replicated() {
    cairn_distribution distribution{};
    distribution.struct_size = sizeof distribution;
    distribution.kind = CAIRN_REPLICATED;
    return distribution;
  }

  static cairn_distribution place(const Array& array, const Block& block) {
    const size_t d = array.c().dimensions;
    if (block.global.size() != d || block.offset.size() > d || block.halo.size() > d ||
        (!block.axis.empty() && block.axis.size() != d))
      throw Error(EINVAL, "block: expected the dimensions of the array");
    cairn_distribution distribution = replicated();
    distribution.kind = CAIRN_BLOCK;
    distribution.owner = block.owner;
    detail::put(block.global, distribution.global);
    detail::put(block.offset, distribution.offset);
    for (size_t k = 0; k < block.halo.size(); ++k) {
      distribution.halo_low[k] = block.halo[k].low;
      distribution.halo_high[k] = block.halo[k].high;
    }
    for (size_t k = 0; k < block.axis.size(); ++k) distribution.axis[k] = block.axis[k];
    return distribution;
  }

  static cairn_distribution place(const Array& array, const Darray& darray) {
    const size_t d = array.c().dimensions;
    const auto is_other = [d](size_t size) { return size != 0 && size != d; };
    if (darray.global.size() != d || darray.processes.size() != d ||
        is_other(darray.block.size()) || is_other(darray.distribute.size()) ||
        is_other(darray.axis.size()))
      throw Error(EINVAL, "darray: expected the dimensions of the array");
    cairn_distribution distribution = replicated();
    distribution.kind = CAIRN_DARRAY;
    distribution.rank_order = darray.rank_order;
    detail::put(darray.global, distribution.global);
    detail::put(darray.block, distribution.block);
    for (size_t k = 0; k < d; ++k) {
      distribution.processes[k] = darray.processes[k];
      distribution.distribute[k] =
          darray.distribute.empty() ? uint32_t{CAIRN_DISTRIBUTE_CYCLIC} : darray.distribute[k];
      if (!darray.axis.empty()) distribution.axis[k] = darray.axis[k];
    }
    return distribution;
  }

  static cairn_distribution place(const Counted& counted) {
    cairn_distribution distribution = replicated();
    distribution.kind = counted.kind;
    distribution.over = counted.over.empty() ? nullptr : counted.over.c_str();
    distribution.key = counted.key.empty() ? nullptr : counted.key.c_str();
    return distribution;
  }

  static int ask(void* context, int purpose, cairn_array* array) {
    auto* const getter = static_cast<Getter*>(context);
    try {
      const int64_t count = array->extent[0];
      const Array now = getter->where(purpose == CAIRN_ARRAY_TO_FILL ? &count : nullptr);
      const uint32_t size = array->struct_size;
      *array = now.c();
      array->struct_size = size;
      return 0;
    } catch (...) {  // through C it cannot go
      getter->raised = std::current_exception();
      return -ECANCELED;
    }
  }

  void register_array(Registration registration, const std::string& name, const Array& array,
                      const cairn_distribution& distribution, const Details& details, Where where) {
    cairn_definition more{};
    more.struct_size = sizeof more;
    more.flags = details.optional ? CAIRN_OPTIONAL : 0;
    std::vector<const char*> aliases;
    for (const std::string& alias : details.aliases) aliases.push_back(alias.c_str());
    more.aliases = aliases.data();
    more.alias_count = static_cast<uint32_t>(aliases.size());
    more.default_value = details.default_value;
    more.attributes = details.attributes.data();
    more.attribute_count = static_cast<uint32_t>(details.attributes.size());
    std::unique_ptr<Getter> getter;
    if (where) {
      getter = std::make_unique<Getter>(Getter{std::move(where), nullptr});
      more.getter = ask;
      more.context = getter.get();
    }
    const auto call = registration == once ? cairn_checkpoint_write_var : cairn_checkpoint_define;
    detail::check(call(c_, name.c_str(), &array.c(), &distribution, &more));
    (registration == once ? collected_ : getters_)[name] = std::move(getter);
  }

  /* What a getter has thrown says more. */
  int check(int result) {
    for (Getters* const getters : {&getters_, &collected_})
      for (auto& [name, getter] : *getters)
        if (getter && getter->raised)
          std::rethrow_exception(std::exchange(getter->raised, nullptr));
    return detail::check(result);
  }

  cairn_checkpoint* c_ = nullptr;
  Getters getters_;
  Getters collected_; /* of the version that was begun */
  std::unique_ptr<Observer> observer_;
};

}  // namespace cpp
}  // namespace cairn
#endif /* CAIRN_CHECKPOINT_HPP */
