// What test programs write as checkpoints: a field in blocks of a grid of ranks, and a time.
#pragma once

#include <cairn/checkpoint.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace cairn::test {

inline constexpr int64_t planes = 25;
inline constexpr int64_t rows = 14;
inline constexpr int64_t columns = 9;
inline constexpr int halo = 2;

inline int rank_of_all = 0;

inline void check(int result, int expected, const char* call) {
  if (result == expected) return;
  std::printf("rank %d: %s: %d: %s\n", rank_of_all, call, result, cairn_last_error());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

inline double value(int64_t i, int64_t j, int64_t k, int64_t version) {
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

inline void define_time(cairn_checkpoint* checkpoint, double* time) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_FLOAT64;
  array.base = time;
  cairn_distribution replicated{};
  replicated.struct_size = sizeof replicated;
  replicated.kind = CAIRN_REPLICATED;
  check(cairn_checkpoint_define(checkpoint, "time", &array, &replicated, nullptr), 0, "define");
}

}  // namespace cairn::test
