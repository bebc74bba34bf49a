// Writes versions with a variable of each kind by MPI ranks of several nodes, for tests of
// `cairn ckpt export`. The pool is found by the environment.
//
//   export_program plain VERSION...     blocks, overlaps, rows in turn, scalars, types that netCDF
//                                       does not have
//   export_program counted VERSION...   and data of ranks, particles and lists of cells, versions
//                                       with copies on other nodes
#include <string>

#include "checkpoint_field.h"

namespace {

using namespace cairn::test;

int rank = 0;
int ranks = 1;

// Rows of all ranks; each has a row of both neighbours as well, with other values: the lowest
// rank's count.
struct Overlap {
  static constexpr int64_t columns = 7;
  int64_t first = 0;
  int64_t count = 0;
  std::vector<float> values;

  void define(cairn_checkpoint* checkpoint) {
    const int64_t all = int64_t{3} * ranks;
    first = std::max<int64_t>(int64_t{3} * rank - 1, 0);
    count = std::min<int64_t>(int64_t{3} * rank + 4, all) - first;
    values.resize(static_cast<size_t>(count * columns));
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_FLOAT32;
    array.dimensions = 2;
    array.base = values.data();
    array.extent[0] = count;
    array.extent[1] = columns;
    cairn_distribution block{};
    block.struct_size = sizeof block;
    block.kind = CAIRN_BLOCK;
    block.owner = CAIRN_OWNER_LOWEST_RANK;
    block.global[0] = all;
    block.global[1] = columns;
    block.offset[0] = first;
    check(cairn_checkpoint_define(checkpoint, "overlap", &array, &block, nullptr), 0, "overlap");
  }
  void set(int64_t version) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(1000 * version + 100 * rank) + static_cast<float>(i) / 4;
  }
};

// Rows that are dealt out to the ranks in turn, two at a time.
struct Dealt {
  static constexpr int64_t rows = 23;
  static constexpr int64_t columns = 3;
  std::vector<int32_t> values;

  [[nodiscard]] static int64_t row(int64_t own) { return (own / 2 * ranks + rank) * 2 + own % 2; }
  void define(cairn_checkpoint* checkpoint) {
    int64_t own = 0;
    while (row(own) < rows) ++own;
    values.resize(static_cast<size_t>(own * columns));
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_INT32;
    array.dimensions = 2;
    array.base = values.data();
    array.extent[0] = own;
    array.extent[1] = columns;
    cairn_distribution in_turn{};
    in_turn.struct_size = sizeof in_turn;
    in_turn.kind = CAIRN_DARRAY;
    in_turn.global[0] = rows;
    in_turn.global[1] = columns;
    in_turn.processes[0] = static_cast<uint32_t>(ranks);
    in_turn.processes[1] = 1;
    in_turn.distribute[0] = CAIRN_DISTRIBUTE_CYCLIC;
    in_turn.distribute[1] = CAIRN_DISTRIBUTE_NONE;
    in_turn.block[0] = 2;
    check(cairn_checkpoint_define(checkpoint, "dealt", &array, &in_turn, nullptr), 0, "dealt");
  }
  void set(int64_t version) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto place = static_cast<int64_t>(i);
      const int64_t element = row(place / columns) * columns + place % columns;
      values[i] = static_cast<int32_t>(1000 * version + element);
    }
  }
};

// One block a rank, of a type that becomes another one in the file or goes to a file beside.
template <typename T>
struct Line {
  static constexpr int64_t own = 5;
  T values[own] = {};

  void define(cairn_checkpoint* checkpoint, const char* name, uint32_t type) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = type;
    array.dimensions = 1;
    array.base = values;
    array.extent[0] = own;
    cairn_distribution block{};
    block.struct_size = sizeof block;
    block.kind = CAIRN_BLOCK;
    block.global[0] = own * ranks;
    block.offset[0] = own * rank;
    check(cairn_checkpoint_define(checkpoint, name, &array, &block, nullptr), 0, name);
  }
};

// Of which each rank has any number of elements; one has none.
template <typename T>
struct Counted {
  std::vector<T> values;

  static int get(void* context, int, cairn_array* array) {
    auto& own = *static_cast<Counted*>(context);
    array->base = own.values.data();
    array->extent[0] = static_cast<int64_t>(own.values.size());
    return 0;
  }
  void define(cairn_checkpoint* checkpoint, const char* name, uint32_t type, uint32_t kind,
              const char* over = nullptr) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = type;
    array.dimensions = 1;
    cairn_distribution distribution{};
    distribution.struct_size = sizeof distribution;
    distribution.kind = kind;
    distribution.over = over;
    cairn_definition more{};
    more.struct_size = sizeof more;
    more.getter = get;
    more.context = this;
    check(cairn_checkpoint_define(checkpoint, name, &array, &distribution, &more), 0, name);
  }
  void set(int64_t version, int64_t count) {
    values.clear();
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<T>(50 * version + 10 * rank + i));
  }
};

// Columns of all ranks, so that rows go through all nodes; in memory the rows are the fastest. Each
// cell has a list.
struct Cells {
  static constexpr int64_t rows = 4;
  static constexpr int64_t own = 3;
  int16_t counts[own][rows] = {};
  Counted<float> lists;

  void define(cairn_checkpoint* checkpoint) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_INT16;
    array.dimensions = 2;
    array.base = counts;
    array.extent[0] = own;
    array.extent[1] = rows;
    cairn_distribution block{};
    block.struct_size = sizeof block;
    block.kind = CAIRN_BLOCK;
    block.global[0] = rows;
    block.global[1] = own * ranks;
    block.offset[1] = own * rank;
    block.axis[0] = 1;
    check(cairn_checkpoint_define(checkpoint, "counts", &array, &block, nullptr), 0, "counts");
    lists.define(checkpoint, "lists", CAIRN_TYPE_FLOAT32, CAIRN_RAGGED, "counts");
  }
  void set(int64_t version) {
    lists.values.clear();
    for (int64_t j = 0; j < own; ++j) {
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t cell = (i * ranks + rank) * own + j;
        const int64_t count = i == 2 ? 0 : (cell + version) % 4;
        counts[j][i] = static_cast<int16_t>(count);
        for (int64_t k = 0; k < count; ++k)
          lists.values.push_back(static_cast<float>(1000 * version + 10 * cell + k));
      }
    }
  }
};

void write(bool is_counted, int count, char** versions) {
  cairn_checkpoint_options options{};
  options.struct_size = sizeof options;
  options.keep = 4;
  if (is_counted) options.flags = CAIRN_CHECKPOINT_PARTNER;
  cairn_checkpoint* checkpoint = nullptr;
  check(cairn_checkpoint_init("field", MPI_Comm_c2f(MPI_COMM_WORLD), &options, &checkpoint), 0,
        "init");
  Field field(rank, ranks);
  double time = 0;
  Overlap overlap;
  Dealt dealt;
  Line<long double> wide;
  Line<uint16_t> half;
  Counted<uint8_t> own;
  Counted<double> particles;
  Cells cells;
  field.define(checkpoint);
  define_time(checkpoint, &time);
  overlap.define(checkpoint);
  dealt.define(checkpoint);
  wide.define(checkpoint, "wide", CAIRN_TYPE_FLOAT80);
  half.define(checkpoint, "half", CAIRN_TYPE_FLOAT16);
  if (is_counted) {
    own.define(checkpoint, "own", CAIRN_TYPE_UINT8, CAIRN_PER_RANK);
    particles.define(checkpoint, "mass", CAIRN_TYPE_FLOAT64, CAIRN_PARTICLES);
    cells.define(checkpoint);
  }
  for (int i = 0; i < count; ++i) {
    const int64_t version = std::atoll(versions[i]);
    time = static_cast<double>(version) / 3;
    field.for_each([&](int64_t x, int64_t y, int64_t z, double* element) {
      *element = value(x, y, z, version);
    });
    overlap.set(version);
    dealt.set(version);
    for (int64_t k = 0; k < 5; ++k) {
      wide.values[k] = static_cast<long double>(version + 10 * rank + k) / 3;
      half.values[k] = static_cast<uint16_t>(0x3c00 + 16 * rank + k);
    }
    own.set(version, rank == 2 ? 0 : rank + version);
    cells.set(version);
    particles.set(version, rank == 0 ? 0 : 3 + rank);
    check(cairn_checkpoint_write(checkpoint, version), 0, "write");
  }
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rank_of_all = rank;
  write(std::strcmp(argv[1], "counted") == 0, argc - 2, argv + 2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::puts("versions are right");
  MPI_Finalize();
  return 0;
}
