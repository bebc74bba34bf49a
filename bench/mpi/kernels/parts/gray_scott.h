// GrayScott is a rank's block of a Gray-Scott reaction on a square with periodic edges. A point's
// new value depends on its neighbours only, so any split of the square gives the same bits.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernels {

// How the square of length * length points is split: columns * rows blocks, rank by rank along x.
struct Split {
  int64_t length = 0;
  int columns = 1;
  int rows = 1;

  [[nodiscard]] int64_t width() const { return length / columns; }
  [[nodiscard]] int64_t height() const { return length / rows; }
  [[nodiscard]] int64_t first_x(int rank) const { return rank % columns * width(); }
  [[nodiscard]] int64_t first_y(int rank) const { return rank / columns * height(); }
};

class GrayScott {
 public:
  explicit GrayScott(const Split& split);

  // Exchanges the edges with the neighbours. Collective.
  void exchange();
  // One step, from exchanged edges.
  void step();

  // The points of v with their halo of one point, row by row.
  [[nodiscard]] const double* points() const { return v_.data(); }
  [[nodiscard]] int64_t row_points() const { return split_.width() + 2; }
  // A row of the block without halo.
  [[nodiscard]] const double* row(int64_t y) const { return &v_[index(0, y)]; }
  [[nodiscard]] const Split& split() const { return split_; }

 private:
  using Field = std::vector<double>;

  // x and y from -1 to width and height.
  [[nodiscard]] size_t index(int64_t x, int64_t y) const {
    return static_cast<size_t>((y + 1) * row_points() + x + 1);
  }
  void exchange(Field* field) const;
  [[nodiscard]] int neighbour(int dx, int dy) const;

  Split split_;
  Field u_, v_, next_u_, next_v_;
};

}  // namespace kernels
