// Writes versions of a set with one variable of each kind, for tests of `cairn ckpt`.
//
//   write_ckpt SET VERSIONS [hold]     versions 1 to VERSIONS; hold: waits for a line before its
//   run
//                                      ends
//   write_ckpt SET read NUMBER         restarts from a version, compares it, writes NUMBER + 100
//   write_ckpt SET counted VERSIONS    versions of which each rank, of two, has any number of
//                                      elements; none of the third
//   write_ckpt SET fresh VERSIONS      begins anew, and writes versions 1 to VERSIONS
//   write_ckpt SET restart             restarts from the latest version, says "ready", and waits
//   write_ckpt SET misnamed            a version whose names of dimensions do not fit
//   write_ckpt SET hidden              a version whose texts hold characters that nobody sees
#include <cairn/checkpoint.h>
#include <unistd.h>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int rows = 4;
constexpr int columns = 6;

void must(int result, const char* what) {
  if (result >= 0) return;
  std::fprintf(stderr, "%s: %s\n", what, cairn_last_error());
  std::exit(1);
}

cairn_attribute text(const char* key, const char* value) {
  return {key, CAIRN_TYPE_CHARACTER, static_cast<uint32_t>(std::strlen(value)), value};
}

struct Variable {
  std::string name;
  uint32_t type = 0;
  uint64_t element_size = 0;
  std::vector<int64_t> shape;
  std::vector<cairn_attribute> attributes;
  std::vector<char> bytes;
};

template <typename T>
std::vector<char> bytes_of(const std::vector<T>& values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<char> count_up(int64_t version, int elements = rows * columns) {
  std::vector<T> values;
  for (int i = 0; i < elements; ++i) values.push_back(static_cast<T>(version + i));
  return bytes_of(values);
}

const double fill = -9999;
const double x_range[] = {0, 2.5};

std::vector<Variable> variables_of(int64_t version) {
  std::vector<Variable> all;
  const auto add = [&](const char* name, uint32_t type, std::vector<int64_t> shape,
                       std::vector<char> bytes, std::vector<cairn_attribute> attributes = {},
                       uint64_t element_size = 0) {
    all.push_back(
        {name, type, element_size, std::move(shape), std::move(attributes), std::move(bytes)});
  };
  const std::vector<int64_t> plane = {rows, columns};
  add("u", CAIRN_TYPE_FLOAT64, plane, count_up<double>(version * 1000),
      {text("dimensions", "y x"),
       text("units", "m s-1"),
       text("long_name", "velocity"),
       {"_FillValue", CAIRN_TYPE_FLOAT64, 1, &fill}});
  add("x", CAIRN_TYPE_FLOAT64, {columns}, count_up<double>(0, columns),
      {text("dimensions", "x"),
       text("units", "m"),
       {"valid_range", CAIRN_TYPE_FLOAT64, 2, x_range}});
  // Has the name of a dimension, and another one.
  add("y", CAIRN_TYPE_INT32, {2}, count_up<int32_t>(version, 2), {text("dimensions", "pair")});
  add("i8", CAIRN_TYPE_INT8, plane, count_up<int8_t>(version), {text("dimensions", "y x")});
  add("i16", CAIRN_TYPE_INT16, plane, count_up<int16_t>(version), {text("units", "")});
  add("i32", CAIRN_TYPE_INT32, plane, count_up<int32_t>(version));
  add("i64", CAIRN_TYPE_INT64, plane, count_up<int64_t>(version));
  add("u8", CAIRN_TYPE_UINT8, plane, count_up<uint8_t>(version));
  add("u16", CAIRN_TYPE_UINT16, plane, count_up<uint16_t>(version));
  add("u32", CAIRN_TYPE_UINT32, plane, count_up<uint32_t>(version));
  add("u64", CAIRN_TYPE_UINT64, plane, count_up<uint64_t>(version));
  add("f32", CAIRN_TYPE_FLOAT32, {2, 3, 4}, count_up<float>(version));
  // 1, -2, the least one of a float16, infinity.
  add("half", CAIRN_TYPE_FLOAT16, {4}, bytes_of<uint16_t>({0x3c00, 0xc000, 0x0001, 0x7c00}));
  add("brain", CAIRN_TYPE_BFLOAT16, {3}, bytes_of<uint16_t>({0x3f80, 0xc000, 0x0001}));
  std::vector<long double> wide;
  for (int i = 0; i < 3; ++i) wide.push_back(1.0L + static_cast<long double>(i) / 3.0L);
  std::vector<char> wide_bytes = bytes_of(wide);
  // The last six of sixteen bytes carry no value.
  for (size_t at = 0; at < wide_bytes.size(); at += 16) std::memset(&wide_bytes[at + 10], 0, 6);
  add("wide", CAIRN_TYPE_FLOAT80, {3}, wide_bytes);
  add("c64", CAIRN_TYPE_COMPLEX64, {2}, bytes_of<std::complex<float>>({{1, 2}, {3, -4}}));
  add("c128", CAIRN_TYPE_COMPLEX128, {2}, bytes_of<std::complex<double>>({{1, 2}, {3, -4}}));
  add("flags", CAIRN_TYPE_LOGICAL32, {3}, bytes_of<int32_t>({0, 1, 1}));
  add("names", CAIRN_TYPE_CHARACTER, {2}, {'n', 'o', 'r', 't', 'h', 's', 'o', 'u', 't', 'h'}, {},
      5);
  add("letter", CAIRN_TYPE_CHARACTER, {3}, {'a', 'b', 'c'}, {}, 1);
  add("struct", CAIRN_TYPE_OPAQUE, {2}, {1, 2, 3, 4, 5, 6}, {}, 3);
  add("count", CAIRN_TYPE_INT64, {}, count_up<int64_t>(version, 1));
  add("nothing", CAIRN_TYPE_FLOAT64, {0, 3}, {});
  add("square", CAIRN_TYPE_FLOAT32, {3, 3}, count_up<float>(version, 9));
  return all;
}

std::vector<Variable> misnamed_variables() {
  const auto one = [](const char* name, int extent, const char* dimensions) {
    return Variable{name,
                    CAIRN_TYPE_FLOAT64,
                    0,
                    {extent},
                    {text("dimensions", dimensions)},
                    count_up<double>(0, extent)};
  };
  return {one("many", 5, "y x"), one("other", 4, "time"), one("time", 3, "time"),
          one("word", 2, "a/b")};
}

// A name may hold each of these but the escape character.
#define HIDDEN_NAME "v\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81"
constexpr const char* hidden_text = HIDDEN_NAME "\x1b[31m\x7f\nforged";

std::vector<Variable> hidden_variables() {
  return {{HIDDEN_NAME,
           CAIRN_TYPE_FLOAT64,
           0,
           {3},
           {text("units", hidden_text), text(HIDDEN_NAME, "x"), text("dimensions", HIDDEN_NAME)},
           count_up<double>(0, 3)}};
}

void define(cairn_checkpoint* checkpoint, std::vector<Variable>* variables) {
  for (Variable& one : *variables) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = one.type;
    array.element_size = one.element_size;
    array.dimensions = static_cast<uint32_t>(one.shape.size());
    array.base = one.bytes.data();
    cairn_distribution block{};
    block.struct_size = sizeof block;
    block.kind = one.shape.empty() ? CAIRN_REPLICATED : CAIRN_BLOCK;
    for (size_t k = 0; k < one.shape.size(); ++k) array.extent[k] = block.global[k] = one.shape[k];
    cairn_definition more{};
    more.struct_size = sizeof more;
    more.attributes = one.attributes.data();
    more.attribute_count = static_cast<uint32_t>(one.attributes.size());
    must(cairn_checkpoint_define(checkpoint, one.name.c_str(), &array, &block, &more), "define");
  }
}

void write(cairn_checkpoint* checkpoint, std::vector<Variable>* variables, int64_t version) {
  const std::vector<Variable> now = variables_of(version);
  for (size_t i = 0; i < now.size(); ++i)
    if (!now[i].bytes.empty())
      std::memcpy((*variables)[i].bytes.data(), now[i].bytes.data(), now[i].bytes.size());
  const double time = static_cast<double>(version) * 0.5;
  const cairn_attribute notes[] = {{"time", CAIRN_TYPE_FLOAT64, 1, &time}, text("title", "a test")};
  must(cairn_checkpoint_set_attributes(checkpoint, notes, 2), "attributes");
  must(cairn_checkpoint_need(checkpoint, version * 10), "need");
  must(cairn_checkpoint_write(checkpoint, version), "write");
}

// Lists of values for the cells of a grid, particles with and without cells, bytes of a rank. Rows
// that are dealt out in turn.
struct Counted {
  static constexpr int64_t ranks = 2, y = 4, x = 3, own_rows = y / ranks;
  explicit Counted(int64_t its_rank) : rank(its_rank) {}
  int64_t rank;
  std::vector<int32_t> counts = std::vector<int32_t>(own_rows * x);
  std::vector<int32_t> dealt = counts;
  std::vector<double> values;
  std::vector<int64_t> cells;
  std::vector<float> masses;
  std::vector<double> plain;
  std::vector<uint8_t> own;

  void set(int64_t version) {
    values.clear();
    cells.clear();
    masses.clear();
    plain.clear();
    own.clear();
    for (int64_t i = 0; i < own_rows * x; ++i) {
      const int64_t cell = rank * own_rows * x + i;
      const int64_t row = i / x * ranks + rank;
      dealt[static_cast<size_t>(i)] = static_cast<int32_t>(100 * version + row * x + i % x);
      counts[static_cast<size_t>(i)] =
          static_cast<int32_t>(version == 3 ? 0 : (cell + version) % 3);
      for (int32_t k = 0; k < counts[static_cast<size_t>(i)]; ++k)
        values.push_back(static_cast<double>(1000 * version + 10 * cell + k));
      if (version == 3) continue;
      cells.push_back((cell + 5) % (x * y));
      masses.push_back(static_cast<float>(cells.back() + version));
    }
    for (int64_t i = 0; i < (version == 3 ? 0 : 2 + rank); ++i) {
      plain.push_back(static_cast<double>(10 * rank + i));
      own.push_back(static_cast<uint8_t>(16 * rank + i));
    }
  }

  template <typename T>
  static int get(void* context, int, cairn_array* array) {
    auto& vector = *static_cast<std::vector<T>*>(context);
    array->base = vector.data();
    array->extent[0] = static_cast<int64_t>(vector.size());
    return 0;
  }
  template <typename T>
  static void define(cairn_checkpoint* checkpoint, const char* name, uint32_t type, uint32_t kind,
                     std::vector<T>* vector, const char* over, const char* key,
                     const cairn_attribute& note) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = type;
    array.dimensions = 1;
    cairn_distribution distribution{};
    distribution.struct_size = sizeof distribution;
    distribution.kind = kind;
    distribution.over = over;
    distribution.key = key;
    cairn_definition more{};
    more.struct_size = sizeof more;
    more.getter = get<T>;
    more.context = vector;
    more.attributes = &note;
    more.attribute_count = note.key == nullptr ? 0 : 1;
    must(cairn_checkpoint_define(checkpoint, name, &array, &distribution, &more), name);
  }
  void define_all(cairn_checkpoint* checkpoint) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_INT32;
    array.dimensions = 2;
    array.base = counts.data();
    array.extent[0] = own_rows;
    array.extent[1] = x;
    cairn_distribution block{};
    block.struct_size = sizeof block;
    block.kind = CAIRN_BLOCK;
    block.global[0] = y;
    block.global[1] = x;
    block.offset[0] = rank * own_rows;
    const cairn_attribute axes = text("dimensions", "y x");
    cairn_definition more{};
    more.struct_size = sizeof more;
    more.attributes = &axes;
    more.attribute_count = 1;
    must(cairn_checkpoint_define(checkpoint, "counts", &array, &block, &more), "define");
    cairn_distribution in_turn = block;
    in_turn.kind = CAIRN_DARRAY;
    in_turn.offset[0] = 0;
    in_turn.processes[0] = ranks;
    in_turn.distribute[0] = CAIRN_DISTRIBUTE_CYCLIC;
    in_turn.processes[1] = 1;
    in_turn.distribute[1] = CAIRN_DISTRIBUTE_NONE;
    array.base = dealt.data();
    must(cairn_checkpoint_define(checkpoint, "dealt", &array, &in_turn, &more), "define");
    const cairn_attribute units = text("units", "kg");
    const cairn_attribute axis = text("dimensions", "rain");
    const cairn_attribute none{};
    define(checkpoint, "values", CAIRN_TYPE_FLOAT64, CAIRN_RAGGED, &values, "counts", nullptr,
           units);
    define(checkpoint, "cell", CAIRN_TYPE_INT64, CAIRN_PARTICLES, &cells, "counts", nullptr, none);
    define(checkpoint, "mass", CAIRN_TYPE_FLOAT32, CAIRN_PARTICLES, &masses, "counts", "cell",
           units);
    define(checkpoint, "plain", CAIRN_TYPE_FLOAT64, CAIRN_PARTICLES, &plain, nullptr, nullptr,
           none);
    define(checkpoint, "drops", CAIRN_TYPE_FLOAT64, CAIRN_PARTICLES, &plain, nullptr, nullptr,
           axis);
    define(checkpoint, "own", CAIRN_TYPE_UINT8, CAIRN_PER_RANK, &own, nullptr, nullptr, none);
  }
};

void write_counted(const char* set, int64_t rank, int64_t versions) {
  cairn_checkpoint_options options{};
  options.struct_size = sizeof options;
  options.keep = 10;
  options.rank = static_cast<uint32_t>(rank);
  options.ranks = Counted::ranks;
  options.job = "counted";
  cairn_checkpoint* checkpoint = nullptr;
  must(cairn_checkpoint_init(set, CAIRN_NO_COMMUNICATOR, &options, &checkpoint), "init");
  Counted counted(rank);
  counted.define_all(checkpoint);
  cairn_checkpoint_info info{};
  info.struct_size = sizeof info;
  must(cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, &info), "test");
  for (int64_t version = 1; version <= versions; ++version) {
    counted.set(version);
    must(cairn_checkpoint_write(checkpoint, version), "write");
  }
  must(cairn_checkpoint_finalize(checkpoint), "finalize");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (argc > 3 && std::string(argv[2]) == "counted") {
    std::thread other([&] { write_counted(argv[1], 1, std::atoll(argv[3])); });
    write_counted(argv[1], 0, std::atoll(argv[3]));
    other.join();
    return 0;
  }
  cairn_checkpoint_options options{};
  options.struct_size = sizeof options;
  options.keep = 10;
  options.code_version = std::string(argv[2]) == "hidden" ? hidden_text : "writer 1";
  const bool is_fresh = std::string(argv[2]) == "fresh";
  if (is_fresh) options.flags = CAIRN_CHECKPOINT_FRESH;
  cairn_checkpoint* checkpoint = nullptr;
  must(cairn_checkpoint_init(argv[1], CAIRN_NO_COMMUNICATOR, &options, &checkpoint), "init");
  if (const std::string kind = argv[2]; kind == "misnamed" || kind == "hidden") {
    std::vector<Variable> variables =
        kind == "misnamed" ? misnamed_variables() : hidden_variables();
    define(checkpoint, &variables);
    must(cairn_checkpoint_write(checkpoint, 1), "write");
    must(cairn_checkpoint_finalize(checkpoint), "finalize");
    return 0;
  }
  std::vector<Variable> variables = variables_of(0);
  define(checkpoint, &variables);
  if (std::string(argv[2]) == "read") {
    const int64_t number = std::atoll(argv[3]);
    must(cairn_checkpoint_read(checkpoint, number, 0, nullptr), "read");
    for (const Variable& expected : variables_of(number))
      for (const Variable& one : variables)
        if (one.name == expected.name && one.bytes != expected.bytes) {
          std::fprintf(stderr, "variable %s differs\n", one.name.c_str());
          return 1;
        }
    write(checkpoint, &variables, number + 100);
  } else if (std::string(argv[2]) == "restart") {
    must(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), "read");
    std::printf("ready\n");
    std::fflush(stdout);
    pause();
  } else {
    cairn_checkpoint_info info{};
    info.struct_size = sizeof info;
    must(cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, &info), "test");
    for (int64_t version = 1; version <= std::atoll(argv[is_fresh ? 3 : 2]); ++version)
      write(checkpoint, &variables, version);
  }
  if (argc > 3 && std::string(argv[3]) == "hold") {
    std::printf("ready\n");
    std::fflush(stdout);
    std::getchar();
  }
  must(cairn_checkpoint_finalize(checkpoint), "finalize");
  return 0;
}
