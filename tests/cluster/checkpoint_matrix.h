// A matrix that is dealt out in blocks to all ranks. What a rank holds of it, MPI says by
// MPI_Type_create_darray.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "checkpoint_field.h"

namespace cairn::test {

class Matrix {
 public:
  static constexpr int rows = 37;
  static constexpr int columns = 22;

  Matrix(int rank, int ranks) {
    MPI_Dims_create(ranks, 2, processes_);
    // Rows in other blocks on other numbers of ranks, columns in one block each.
    block_ = 1 + ranks % 4;
    const int extents[] = {rows, columns};
    const int kinds[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    const int arguments[] = {block_, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Datatype dealt = MPI_DATATYPE_NULL;
    MPI_Type_create_darray(ranks, rank, 2, extents, kinds, arguments, processes_, MPI_ORDER_C,
                           MPI_INT, &dealt);
    MPI_Type_commit(&dealt);
    int bytes = 0;
    MPI_Type_size(dealt, &bytes);
    numbers_.resize(static_cast<size_t>(bytes) / sizeof(int));
    values_.resize(numbers_.size(), -1);
    std::vector<int> whole(size_t{rows} * columns);
    std::iota(whole.begin(), whole.end(), 0);
    MPI_Sendrecv(whole.data(), 1, dealt, 0, 0, numbers_.data(), static_cast<int>(numbers_.size()),
                 MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Type_free(&dealt);
    // As many of each dimension as this rank's first row and column have.
    for (const int number : numbers_) {
      if (number / columns == numbers_[0] / columns) ++extent_[1];
      if (number % columns == numbers_[0] % columns) ++extent_[0];
    }
  }

  void define(cairn_checkpoint* checkpoint, uint32_t flags) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_FLOAT64;
    array.dimensions = 2;
    array.base = values_.data();
    cairn_distribution dealt{};
    dealt.struct_size = sizeof dealt;
    dealt.kind = CAIRN_DARRAY;
    dealt.global[0] = rows;
    dealt.global[1] = columns;
    dealt.distribute[0] = CAIRN_DISTRIBUTE_CYCLIC;
    dealt.distribute[1] = CAIRN_DISTRIBUTE_BLOCK;
    dealt.block[0] = block_;
    for (int k = 0; k < 2; ++k) {
      array.extent[k] = extent_[k];
      dealt.processes[k] = static_cast<uint32_t>(processes_[k]);
    }
    cairn_definition more{};
    more.struct_size = sizeof more;
    more.flags = flags;
    check(cairn_checkpoint_define(checkpoint, "matrix", &array, &dealt, &more), 0,
          "define a matrix");
  }

  // The array stays where it is.
  void set(int64_t version) {
    const std::vector<double> values = of(version);
    std::copy(values.begin(), values.end(), values_.begin());
  }
  [[nodiscard]] bool is(int64_t version) const { return values_ == of(version); }

 private:
  [[nodiscard]] std::vector<double> of(int64_t version) const {
    std::vector<double> values;
    for (const int number : numbers_)
      values.push_back(static_cast<double>(version * rows * columns + number));
    return values;
  }

  int processes_[2] = {};
  int block_ = 1;
  int extent_[2] = {};
  std::vector<int> numbers_;  // of this rank's elements, as MPI picks them out of the whole
  std::vector<double> values_;
};

}  // namespace cairn::test
