// CornerForces holds the force of each element on each of its corners, for the elements of a box
// and a layer of its neighbours' elements around it.
//
// A node adds the forces of its eight elements in the order of the mesh, whichever ranks hold them.
// So the sum has the same bits for each decomposition. The neighbours' forces have to be exchanged
// one by one for that, not as sums.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "state.h"

namespace sedov {

class CornerForces {
 public:
  explicit CornerForces(const Box& box);

  // Element (i, j, k) of the box; -1 and count are the layer around it.
  Corners& of(int64_t i, int64_t j, int64_t k) {
    return forces_[static_cast<size_t>(((k + 1) * width_[1] + j + 1) * width_[0] + i + 1)];
  }

  // Fills the layer from the neighbours. Collective.
  void exchange(const State& state, MPI_Comm communicator);

  // The force on a node of the box.
  Vec3 on_node(int64_t i, int64_t j, int64_t k);

 private:
  // Calls act(force) for the four corners on side 0 or 1 of each element of a layer across `d`. The
  // layer reaches into the layers that were exchanged before, of dimensions below d.
  template <typename Act>
  void each_corner(int d, int64_t layer, int side, const Act& act);

  Box box_;
  Index3 width_;
  std::vector<Corners> forces_;
  std::vector<Vec3> sent_[2], received_[2];
};

}  // namespace sedov
