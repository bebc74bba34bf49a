#include "state.h"

#include <cmath>

#include "gas.h"
#include "time_step.h"

namespace sedov {

State::State(const Decomposition& of_mesh, int its_rank)
    : decomposition(of_mesh), rank(its_rank), box(of_mesh.box(its_rank)) {
  const auto nodes = static_cast<size_t>(box.nodes());
  const auto elements = static_cast<size_t>(box.elements());
  for (auto* each : {&x, &y, &z, &xd, &yd, &zd}) each->assign(nodes, 0);
  for (auto* each : {&e, &p, &q, &ss}) each->assign(elements, 0);
  v.assign(elements, 1);
  const double width = edge_of_cube / static_cast<double>(decomposition.size);
  for (int64_t k = 0; k <= box.count[2]; ++k)
    for (int64_t j = 0; j <= box.count[1]; ++j)
      for (int64_t i = 0; i <= box.count[0]; ++i) {
        const auto at = static_cast<size_t>(box.node(i, j, k));
        x[at] = static_cast<double>(box.first[0] + i) * width;
        y[at] = static_cast<double>(box.first[1] + j) * width;
        z[at] = static_cast<double>(box.first[2] + k) * width;
      }
  // Every rank knows the first step: that of the hot element, before anything moves.
  const double energy = energy_of_blast / 8 / element_mass();
  if (box.first == Index3{}) {
    e[0] = energy;
    p[0] = pressure(energy, 1);
    ss[0] = sound_speed(energy);
  }
  clock.step = first_step(width, sound_speed(energy));
  clock.courant_limit = clock.step;
  clock.dilation_limit = clock.step;
}

double State::initial_volume() const {
  return std::pow(edge_of_cube / static_cast<double>(decomposition.size), 3);
}

double State::element_mass() const { return initial_density * initial_volume(); }

double State::node_mass(int64_t i, int64_t j, int64_t k) const {
  double share = 1;
  const int64_t local[3] = {i, j, k};
  for (int d = 0; d < 3; ++d) {
    const int64_t global = box.first[d] + local[d];
    if (global == 0 || global == decomposition.size) share /= 2;
  }
  return share * element_mass();
}

std::vector<Variable> State::variables() {
  return {{"x", true, &x},   {"y", true, &y},   {"z", true, &z},   {"xd", true, &xd},
          {"yd", true, &yd}, {"zd", true, &zd}, {"e", false, &e},  {"p", false, &p},
          {"q", false, &q},  {"v", false, &v},  {"ss", false, &ss}};
}

}  // namespace sedov
