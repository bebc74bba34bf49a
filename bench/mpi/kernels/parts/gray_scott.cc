#include "parts/gray_scott.h"

#include <cstdlib>

#include "common/job.h"

namespace kernels {
namespace {

// The model's constants: a pattern of dividing spots.
constexpr double feed = 0.04;
constexpr double kill = 0.06075;
constexpr double diffusion_u = 0.05;
constexpr double diffusion_v = 0.1;
constexpr double time_step = 0.2;

}  // namespace

GrayScott::GrayScott(const Split& split) : split_(split) {
  const auto points = static_cast<size_t>(row_points() * (split.height() + 2));
  for (Field* field : {&u_, &v_, &next_u_, &next_v_}) field->assign(points, 0.0);
  // A square in the middle is disturbed.
  const int64_t near = split.length / 8 + 1;
  for (int64_t y = 0; y < split.height(); ++y)
    for (int64_t x = 0; x < split.width(); ++x) {
      const int64_t dx = std::abs(split.first_x(job().rank) + x - split.length / 2);
      const int64_t dy = std::abs(split.first_y(job().rank) + y - split.length / 2);
      if (dx < near && dy < near) u_[index(x, y)] = 0.7;
      if (dx < near / 2 + 1 && dy < near / 2 + 1) v_[index(x, y)] = 0.9;
    }
}

int GrayScott::neighbour(int dx, int dy) const {
  const int column = (job().rank % split_.columns + dx + split_.columns) % split_.columns;
  const int row = (job().rank / split_.columns + dy + split_.rows) % split_.rows;
  return row * split_.columns + column;
}

void GrayScott::exchange() {
  exchange(&u_);
  exchange(&v_);
}

void GrayScott::exchange(Field* field) const {
  const int64_t width = split_.width(), height = split_.height();
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(height), 1, static_cast<int>(row_points()), MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  double* const at = field->data();
  const auto send = [&](size_t from, size_t to, int count, MPI_Datatype type, int dx, int dy) {
    MPI_Sendrecv(at + from, count, type, neighbour(dx, dy), 0, at + to, count, type,
                 neighbour(-dx, -dy), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  const auto line = static_cast<int>(width);
  send(index(0, height - 1), index(0, -1), line, MPI_DOUBLE, 0, 1);
  send(index(0, 0), index(0, height), line, MPI_DOUBLE, 0, -1);
  send(index(width - 1, 0), index(-1, 0), 1, column, 1, 0);
  send(index(0, 0), index(width, 0), 1, column, -1, 0);
  MPI_Type_free(&column);
}

void GrayScott::step() {
  const auto line = static_cast<size_t>(row_points());
  for (int64_t y = 0; y < split_.height(); ++y)
    for (int64_t x = 0; x < split_.width(); ++x) {
      const size_t i = index(x, y);
      const double u = u_[i], v = v_[i];
      const double around_u = u_[i - 1] + u_[i + 1] + u_[i - line] + u_[i + line] - 4 * u;
      const double around_v = v_[i - 1] + v_[i + 1] + v_[i - line] + v_[i + line] - 4 * v;
      const double reaction = u * u * v;
      next_u_[i] = u + time_step * (diffusion_u * around_u + reaction - (feed + kill) * u);
      next_v_[i] = v + time_step * (diffusion_v * around_v - reaction + feed * (1.0 - v));
    }
  u_.swap(next_u_);
  v_.swap(next_v_);
}

}  // namespace kernels
