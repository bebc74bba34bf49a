#include "corner_forces.h"

namespace sedov {

CornerForces::CornerForces(const Box& box) : box_(box) {
  for (int d = 0; d < 3; ++d) width_[d] = box.count[d] + 2;
  forces_.resize(static_cast<size_t>(width_[0] * width_[1] * width_[2]));
}

template <typename Act>
void CornerForces::each_corner(int d, int64_t layer, int side, const Act& act) {
  Index3 from = {}, to = box_.count;
  for (int before = 0; before < d; ++before) {
    from[before] = -1;
    to[before] = box_.count[before] + 1;
  }
  from[d] = layer;
  to[d] = layer + 1;
  for (int64_t k = from[2]; k < to[2]; ++k)
    for (int64_t j = from[1]; j < to[1]; ++j)
      for (int64_t i = from[0]; i < to[0]; ++i)
        for (int c = 0; c < corners; ++c)
          if ((c >> d & 1) == side) act(of(i, j, k)[c]);
}

void CornerForces::exchange(const State& state, MPI_Comm communicator) {
  for (int d = 0; d < 3; ++d) {
    MPI_Request requests[4];
    int neighbours[2];
    for (int side = 0; side < 2; ++side) {
      const int neighbour = state.decomposition.neighbour(state.rank, d, side == 0 ? -1 : 1);
      neighbours[side] = neighbour < 0 ? MPI_PROC_NULL : neighbour;
      sent_[side].clear();
      each_corner(d, side == 0 ? 0 : box_.count[d] - 1, side,
                  [&](const Vec3& force) { sent_[side].push_back(force); });
      received_[side].resize(sent_[side].size());
      const int numbers = static_cast<int>(3 * sent_[side].size());
      MPI_Irecv(received_[side].data(), numbers, MPI_DOUBLE, neighbours[side], 1 - side,
                communicator, &requests[side]);
      MPI_Isend(sent_[side].data(), numbers, MPI_DOUBLE, neighbours[side], side, communicator,
                &requests[2 + side]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < 2; ++side) {
      if (neighbours[side] == MPI_PROC_NULL) continue;  // nothing pushes from outside
      size_t at = 0;
      each_corner(d, side == 0 ? -1 : box_.count[d], 1 - side,
                  [&](Vec3& force) { force = received_[side][at++]; });
    }
  }
}

Vec3 CornerForces::on_node(int64_t i, int64_t j, int64_t k) {
  Vec3 sum;
  for (int c = 0; c < corners; ++c)  // the node is the opposite corner of element c around it
    sum += of(i - 1 + (c & 1), j - 1 + (c >> 1 & 1), k - 1 + (c >> 2))[7 - c];
  return sum;
}

}  // namespace sedov
