// Hydro advances the state by one cycle.
//
// Positions, velocities and energies belong to the same time. A cycle moves the nodes half a step,
// takes the forces there, accelerates the nodes, and moves them on with the mean of the old and new
// velocity. Each element pays for the work of its forces with internal energy. So the sum of
// kinetic and internal energy stays the same up to rounding (Caramana et al. 1998).
#pragma once

#include <mpi.h>

#include "corner_forces.h"
#include "state.h"

namespace sedov {

class Hydro {
 public:
  Hydro(State& state, MPI_Comm communicator);

  // One cycle, no further than time `end`. Collective.
  void advance(double end);

 private:
  void move_nodes(double step);
  void find_forces();
  void accelerate_nodes(double step);
  void update_elements(double step);

  State& state_;
  MPI_Comm communicator_;
  CornerForces forces_;
  std::vector<Vec3> mean_velocity_;  // of nodes, during the cycle
};

}  // namespace sedov
