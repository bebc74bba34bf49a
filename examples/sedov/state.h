// State is what a rank holds of the problem, and all that a restart needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decomposition.h"
#include "hexahedron.h"

namespace sedov {

// The Sedov problem in one octant: at time 0 the energy of the blast lies in the element at the
// origin of a cube of cold gas. The front is at radius 1 at time 1 (Kamm and Timmes 2007).
constexpr double edge_of_cube = 1.2;
constexpr double energy_of_blast = 0.851072;  // in all eight octants
constexpr double front_radius_constant = 1;   // radius = constant * time^(2/5)

struct Clock {
  double time = 0;
  double step = 0;            // of the last cycle
  double courant_limit = 0;   // for the next one, by the speed of sound
  double dilation_limit = 0;  // by the change of volumes
  int64_t cycle = 0;
};

// An array of the state, by the name that checkpoints have it under.
struct Variable {
  const char* name;
  bool is_nodal;
  std::vector<double>* values;
};

struct State {
  explicit State(const Decomposition& decomposition, int rank);

  [[nodiscard]] double initial_volume() const;  // of an element
  [[nodiscard]] double element_mass() const;
  // Where a node lies in the box says how many elements of the mesh share it.
  [[nodiscard]] double node_mass(int64_t i, int64_t j, int64_t k) const;

  [[nodiscard]] std::vector<Variable> variables();

  Decomposition decomposition;
  int rank;
  Box box;
  Clock clock;
  std::vector<double> x, y, z;         // nodes: position
  std::vector<double> xd, yd, zd;      // velocity
  std::vector<double> e, p, q, v, ss;  // elements: internal energy by mass, pressure, viscous
                                       // pressure, relative volume, speed of sound
};

// The values of a nodal vector at the corners of element (i, j, k) of the box.
inline Corners gather(const Box& box, const std::vector<double>& x, const std::vector<double>& y,
                      const std::vector<double>& z, int64_t i, int64_t j, int64_t k) {
  Corners found;
  for (int c = 0; c < corners; ++c) {
    const auto at = static_cast<size_t>(box.node(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)));
    found[c] = {x[at], y[at], z[at]};
  }
  return found;
}

}  // namespace sedov
