// Outcome is what a run is judged by. It has the same bits for each number of ranks.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "state.h"

namespace sedov {

struct Outcome {
  double origin_energy = 0;   // internal energy by mass of the element at the origin
  double total_energy = 0;    // internal and kinetic, of the octant
  double energy_error = 0;    // relative change since the beginning
  double asymmetry = 0;       // between x and y in the plane z = 0: energies, by the largest
  double front = 0;           // mean radius of the shock, where the viscous pressure is
  double expected_front = 0;  // by the similarity solution
  uint64_t fingerprint = 0;   // of all bits of the state
};

// Collective; all ranks get the same.
Outcome outcome_of(State& state, MPI_Comm communicator);

}  // namespace sedov
