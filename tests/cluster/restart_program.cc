// Writes and reads checkpoints by MPI ranks of one host. The pool is found by the environment.
//
//   restart_program write VERSION...   continues the latest version, if there is one
//   restart_program read VERSION       expects this version, each byte right
#include <cairn/checkpoint.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int64_t planes = 25;
constexpr int64_t rows = 14;
constexpr int64_t columns = 9;
constexpr int halo = 2;

int rank_of_all = 0;

void check(int result, int expected, const char* call) {
  if (result == expected) return;
  std::printf("rank %d: %s: %d: %s\n", rank_of_all, call, result, cairn_last_error());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

double value(int64_t i, int64_t j, int64_t k, int64_t version) {
  return static_cast<double>(((version * planes + i) * rows + j) * columns + k) / 7;
}

// Blocks of a grid of ranks, in memory as (k, j, i) with halo: what a Fortran program has.
struct Field {
  int64_t first[2];  // of the planes and rows
  int64_t count[2];
  std::vector<double> values;

  Field(int rank, int ranks) {
    int shape[2] = {0, 0};
    MPI_Dims_create(ranks, 2, shape);
    const int at[2] = {rank / shape[1], rank % shape[1]};
    const int64_t extent[2] = {planes, rows};
    for (int d = 0; d < 2; ++d) {
      first[d] = extent[d] * at[d] / shape[d];
      count[d] = extent[d] * (at[d] + 1) / shape[d] - first[d];
    }
    values.assign(static_cast<size_t>((count[0] + 2 * halo) * (count[1] + 2 * halo) * columns), -1);
  }
  double& at(int64_t i, int64_t j, int64_t k) {
    const int64_t inner = (count[1] + 2 * halo) * (count[0] + 2 * halo);
    return values[static_cast<size_t>(k * inner + (j - first[1] + halo) * (count[0] + 2 * halo) +
                                      (i - first[0] + halo))];
  }
  template <typename Visit>
  void for_each(Visit visit) {
    for (int64_t i = first[0]; i < first[0] + count[0]; ++i)
      for (int64_t j = first[1]; j < first[1] + count[1]; ++j)
        for (int64_t k = 0; k < columns; ++k) visit(i, j, k, &at(i, j, k));
  }
  void define(cairn_checkpoint* checkpoint) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_FLOAT64;
    array.dimensions = 3;
    array.base = values.data();
    const int64_t extent[] = {columns, count[1] + 2 * halo, count[0] + 2 * halo};
    std::memcpy(array.extent, extent, sizeof extent);
    cairn_distribution block{};
    block.struct_size = sizeof block;
    block.kind = CAIRN_BLOCK;
    const int64_t global[] = {planes, rows, columns};
    std::memcpy(block.global, global, sizeof global);
    std::memcpy(block.offset, first, sizeof first);
    for (int d = 0; d < 3; ++d) block.axis[d] = static_cast<uint8_t>(2 - d);
    block.halo_low[1] = block.halo_high[1] = block.halo_low[2] = block.halo_high[2] = halo;
    check(cairn_checkpoint_define(checkpoint, "field", &array, &block, nullptr), 0, "define");
  }
};

void define_time(cairn_checkpoint* checkpoint, double* time) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_FLOAT64;
  array.base = time;
  cairn_distribution replicated{};
  replicated.struct_size = sizeof replicated;
  replicated.kind = CAIRN_REPLICATED;
  check(cairn_checkpoint_define(checkpoint, "time", &array, &replicated, nullptr), 0, "define");
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_all);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // A communicator of our own, which is gone after init. Its ranks run the other way.
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_of_all, &own);
  int rank = 0;
  MPI_Comm_rank(own, &rank);
  cairn_checkpoint* checkpoint = nullptr;
  check(cairn_checkpoint_init("field", MPI_Comm_c2f(own), nullptr, &checkpoint), 0, "init");
  MPI_Comm_free(&own);
  Field field(rank, ranks);
  double time = 0;
  field.define(checkpoint);
  define_time(checkpoint, &time);
  cairn_checkpoint_info info{};
  info.struct_size = sizeof info;
  if (std::strcmp(argv[1], "read") == 0) {
    const int64_t version = std::atoll(argv[2]);
    check(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info), 0, "read");
    check(static_cast<int>(info.number), static_cast<int>(version), "the version that was read");
    check(time == static_cast<double>(version) / 3 ? 0 : 1, 0, "time");
    field.for_each([&](int64_t i, int64_t j, int64_t k, const double* element) {
      const double expected = value(i, j, k, version);
      check(std::memcmp(element, &expected, sizeof expected), 0, "an element");
    });
  } else {
    const int found = cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr);
    if (found != 0) {
      check(found, 1, "restart_test");
      check(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0, "read");
    }
    for (int i = 2; i < argc; ++i) {
      const int64_t version = std::atoll(argv[i]);
      time = static_cast<double>(version) / 3;
      field.for_each([&](int64_t x, int64_t y, int64_t z, double* element) {
        *element = value(x, y, z, version);
      });
      check(cairn_checkpoint_write(checkpoint, version), 0, "write");
    }
  }
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
  MPI_Finalize();
  if (rank_of_all == 0) std::puts("checkpoints are right");
  return 0;
}
