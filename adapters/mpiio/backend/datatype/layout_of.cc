#include "mpiio/backend/datatype/layout_of.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "mpiio/backend/datatype/collector.h"
#include "mpiio/backend/datatype/contents.h"

namespace mpiio {
namespace {

// Returns the layout of a part, in memory or in a file of another representation.
class Parts {
 public:
  explicit Parts(const SizeInFile* size) : size_(size) {}
  [[nodiscard]] Layout operator()(MPI_Datatype datatype) const {
    return size_ == nullptr ? *layout_of(datatype) : layout_in_file(datatype, *size_);
  }

 private:
  const SizeInFile* size_;
};

void subarray(const Contents& made, const Parts& part, Collector& collector) {
  const auto dims = static_cast<size_t>(made.numbers[0]);
  const int64_t* sizes = &made.numbers[1];
  const int64_t* subsizes = sizes + dims;
  const int64_t* starts = subsizes + dims;
  const bool fortran = starts[dims] == MPI_ORDER_FORTRAN;
  // The loop goes from the fastest dimension outwards: one row, then rows of rows.
  Layout inner = part(made.types[0]);
  for (size_t i = 0; i < dims; ++i) {
    const size_t d = fortran ? i : dims - 1 - i;
    const int64_t extent = inner.extent;
    Collector rows;
    rows.repeat(inner, starts[d] * extent, subsizes[d], extent);
    inner = rows.take();
    inner.lb = 0;
    inner.extent = extent * sizes[d];
  }
  collector.add(inner, 0);
}

// One dimension of a distributed array.
struct Dimension {
  int64_t size;
  int64_t distribution;
  int64_t argument;
  int64_t processes;
  int64_t rank;  // the rank whose part it is
};

Layout distributed(const Layout& inner, const Dimension& d) {
  const int64_t extent = inner.extent;
  Collector rows;
  if (d.distribution == MPI_DISTRIBUTE_NONE || d.processes == 1) {
    rows.repeat(inner, 0, d.size, extent);
  } else if (d.distribution == MPI_DISTRIBUTE_BLOCK) {
    const int64_t block = d.argument == MPI_DISTRIBUTE_DFLT_DARG
                              ? (d.size + d.processes - 1) / d.processes
                              : d.argument;
    const int64_t from = std::min(d.size, d.rank * block);
    rows.repeat(inner, from * extent, std::min(block, d.size - from), extent);
  } else {
    const int64_t block = d.argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : d.argument;
    for (int64_t from = d.rank * block; from < d.size; from += d.processes * block)
      rows.repeat(inner, from * extent, std::min(block, d.size - from), extent);
  }
  Layout result = rows.take();
  result.lb = 0;
  result.extent = extent * d.size;
  return result;
}

void darray(const Contents& made, const Parts& part, Collector& collector) {
  int64_t rank = made.numbers[1];
  const auto dims = static_cast<size_t>(made.numbers[2]);
  const int64_t* sizes = &made.numbers[3];
  const int64_t* distributions = sizes + dims;
  const int64_t* arguments = distributions + dims;
  const int64_t* grid = arguments + dims;
  const bool fortran = grid[dims] == MPI_ORDER_FORTRAN;
  // The process grid is in row-major order, whatever the order of the array.
  std::vector<int64_t> place(dims);
  for (size_t d = dims; d-- > 0;) {
    place[d] = rank % grid[d];
    rank /= grid[d];
  }
  Layout inner = part(made.types[0]);
  for (size_t i = 0; i < dims; ++i) {
    const size_t d = fortran ? i : dims - 1 - i;
    inner = distributed(inner, {sizes[d], distributions[d], arguments[d], grid[d], place[d]});
  }
  collector.add(inner, 0);
}

// Adds blocks of one type: `length(i)` of them at byte `place(i)`.
template <typename Length, typename Place>
void blocks(const Layout& type, int64_t count, const Length& length, const Place& place,
            Collector& collector) {
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    collector.add_block(type, place(i), length(i));
}

void vector(const Layout& type, int64_t count, int64_t length, int64_t stride,
            Collector& collector) {
  Collector block;
  block.add_block(type, 0, length);
  collector.repeat(block.take(), 0, count, stride);
}

// Adds the parts of a constructed type. Returns false for an unknown constructor.
bool construct(const Contents& made, const Parts& part, Collector& collector) {
  const std::vector<int64_t>& n = made.numbers;
  const std::vector<int64_t>& a = made.addresses;
  if (made.combiner == MPI_COMBINER_STRUCT) {
    for (size_t i = 0; i < static_cast<size_t>(n[0]); ++i)
      collector.add_block(part(made.types[i]), a[i], n[1 + i]);
    return true;
  }
  const Layout type = part(made.types[0]);
  const auto count = static_cast<size_t>(n.empty() ? 0 : n[0]);
  const auto each = [&](size_t i) { return n[1 + i]; };
  const auto same = [&](size_t) { return n[1]; };
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      collector.add(type, 0);
      break;
    case MPI_COMBINER_CONTIGUOUS:
      collector.add_block(type, 0, n[0]);
      break;
    case MPI_COMBINER_VECTOR:
      vector(type, n[0], n[1], n[2] * type.extent, collector);
      break;
    case MPI_COMBINER_HVECTOR:
      vector(type, n[0], n[1], a[0], collector);
      break;
    case MPI_COMBINER_INDEXED:
      blocks(
          type, n[0], each, [&](size_t i) { return n[1 + count + i] * type.extent; }, collector);
      break;
    case MPI_COMBINER_HINDEXED:
      blocks(
          type, n[0], each, [&](size_t i) { return a[i]; }, collector);
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
      blocks(
          type, n[0], same, [&](size_t i) { return n[2 + i] * type.extent; }, collector);
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      blocks(
          type, n[0], same, [&](size_t i) { return a[i]; }, collector);
      break;
    case MPI_COMBINER_SUBARRAY:
      subarray(made, part, collector);
      break;
    case MPI_COMBINER_DARRAY:
      darray(made, part, collector);
      break;
    default:
      return false;
  }
  return true;
}

// Adds a pair of a value and an int, for MPI_MINLOC, which has a gap between the two or after them.
bool add_pair(MPI_Datatype datatype, Collector& collector) {
  const auto pair = [&](int64_t size, int64_t offset) {
    collector.add({0, size});
    collector.add({offset, sizeof(int)});
    return true;
  };
  struct Short {
    short value;
    int index;
  };
  struct Long {
    long value;
    int index;
  };
  struct Double {
    double value;
    int index;
  };
  struct LongDouble {
    long double value;
    int index;
  };
  if (datatype == MPI_SHORT_INT) return pair(sizeof(short), offsetof(Short, index));
  if (datatype == MPI_LONG_INT) return pair(sizeof(long), offsetof(Long, index));
  if (datatype == MPI_DOUBLE_INT) return pair(sizeof(double), offsetof(Double, index));
  if (datatype == MPI_LONG_DOUBLE_INT)
    return pair(sizeof(long double), offsetof(LongDouble, index));
  return false;
}

std::shared_ptr<const Layout> make_layout(MPI_Datatype datatype) {
  MPI_Count size = 0;
  MPI_Count lb = 0;
  MPI_Count extent = 0;
  PMPI_Type_size_x(datatype, &size);
  PMPI_Type_get_extent_x(datatype, &lb, &extent);
  Collector collector;
  bool known = true;
  if (is_predefined(datatype)) {
    if (!add_pair(datatype, collector)) collector.add({0, size});
  } else {
    known = construct(Contents(datatype), Parts(nullptr), collector);
  }
  auto layout = std::make_shared<Layout>(collector.take());
  layout->lb = lb;
  layout->extent = extent;
  layout->known = known && layout->size == size;
  return layout;
}

// The data kept with a datatype.
struct Kept {
  std::shared_ptr<const Layout> layout;
  std::atomic<bool> committed{false};  // stays true
};

int forget(MPI_Datatype, int, void* attribute, void*) {
  delete static_cast<Kept*>(attribute);
  return MPI_SUCCESS;
}

int layout_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &made, nullptr);
    return made;
  }();
  return key;
}

Kept* find_kept(MPI_Datatype datatype) {
  void* attribute = nullptr;
  int found = 0;
  PMPI_Type_get_attr(datatype, layout_key(), &attribute, &found);
  return found != 0 ? static_cast<Kept*>(attribute) : nullptr;
}

Kept& kept(MPI_Datatype datatype) {
  if (Kept* found = find_kept(datatype); found != nullptr) return *found;
  // One thread makes it. A second attribute would replace the first one while another thread reads
  // that.
  static std::recursive_mutex making;
  const std::lock_guard guard(making);
  if (Kept* found = find_kept(datatype); found != nullptr) return *found;
  auto* made = new Kept{make_layout(datatype)};
  PMPI_Type_set_attr(datatype, layout_key(), made);
  return *made;
}

}  // namespace

std::shared_ptr<const Layout> layout_of(MPI_Datatype datatype) { return kept(datatype).layout; }

// Returns true if the datatype is committed. No call tells, but packing requires committed types:
// no item is packed. An MPI that was built without such checks accepts all types, as it does with
// its own files.
bool is_committed(MPI_Datatype datatype, MPI_Comm comm) {
  const Kept* found_kept = find_kept(datatype);
  if (found_kept != nullptr && found_kept->committed.load(std::memory_order_relaxed)) return true;
  if (is_predefined(datatype)) return true;
  Kept& about = kept(datatype);
  char none = 0;
  int position = 0;
  const int code = PMPI_Pack(&none, 0, datatype, &none, 0, &position, comm);
  int found = MPI_SUCCESS;
  PMPI_Error_class(code, &found);
  const bool refused = code != MPI_SUCCESS && found == MPI_ERR_TYPE;
  if (!refused) about.committed.store(true, std::memory_order_relaxed);
  return !refused;
}

Layout layout_in_file(MPI_Datatype datatype, const SizeInFile& size) {
  Collector collector;
  if (is_predefined(datatype)) {
    const int64_t bytes = size(datatype);
    collector.bound(0, bytes);
    collector.add({0, bytes});
    return collector.take();
  }
  const Contents made(datatype);
  const bool known = construct(made, Parts(&size), collector);
  Layout layout = collector.take();
  layout.known = known;
  if (made.combiner == MPI_COMBINER_RESIZED) {
    layout.lb = made.addresses[0];
    layout.extent = made.addresses[1];
  }
  return layout;
}

}  // namespace mpiio
