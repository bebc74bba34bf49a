#include "step.h"

#include <algorithm>
#include <cmath>

#include "gas.h"
#include "hourglass.h"
#include "time_step.h"
#include "viscosity.h"

namespace sedov {
namespace {

template <typename Act>
void each_index(const Index3& count, const Act& act) {
  for (int64_t k = 0; k < count[2]; ++k)
    for (int64_t j = 0; j < count[1]; ++j)
      for (int64_t i = 0; i < count[0]; ++i) act(i, j, k);
}

Index3 nodes_of(const Box& box) { return {box.count[0] + 1, box.count[1] + 1, box.count[2] + 1}; }

double sum_of_products(const Corners& a, const Corners& b) {
  double sum = 0;
  for (int c = 0; c < corners; ++c) sum += dot(a[c], b[c]);
  return sum;
}

}  // namespace

Hydro::Hydro(State& state, MPI_Comm communicator)
    : state_(state),
      communicator_(communicator),
      forces_(state.box),
      mean_velocity_(static_cast<size_t>(state.box.nodes())) {}

void Hydro::advance(double end) {
  Clock& clock = state_.clock;
  const double step = next_step(clock, end);
  for (size_t at = 0; at < mean_velocity_.size(); ++at)
    mean_velocity_[at] = {state_.xd[at], state_.yd[at], state_.zd[at]};
  move_nodes(step / 2);
  find_forces();
  forces_.exchange(state_, communicator_);
  accelerate_nodes(step);
  update_elements(step);
  clock.step = step;
  clock.time += step;
  ++clock.cycle;
}

void Hydro::move_nodes(double step) {
  for (size_t at = 0; at < mean_velocity_.size(); ++at) {
    state_.x[at] += step * mean_velocity_[at].x;
    state_.y[at] += step * mean_velocity_[at].y;
    state_.z[at] += step * mean_velocity_[at].z;
  }
}

// The nodes are in the middle of their way.
void Hydro::find_forces() {
  State& s = state_;
  const double initial = s.initial_volume();
  each_index(s.box.count, [&](int64_t i, int64_t j, int64_t k) {
    const auto at = static_cast<size_t>(s.box.element(i, j, k));
    const Corners position = gather(s.box, s.x, s.y, s.z, i, j, k);
    const Corners velocity = gather(s.box, s.xd, s.yd, s.zd, i, j, k);
    const Corners gradient = volume_gradient(position);
    const double here = volume(position);
    const double relative = here / initial;
    const double divergence = sum_of_products(gradient, velocity) / here;
    const double thin = thickness(position, here);
    // The pressure in the middle of the step, by the work of half a step.
    const double energy = s.e[at] - (s.p[at] + s.q[at]) * (relative - s.v[at]) / initial_density;
    const double density = initial_density / relative;
    s.q[at] = viscous_pressure(density, s.ss[at], closing_speed(divergence, thin));
    const double push = pressure(energy, relative) + s.q[at];
    Corners& force = forces_.of(i, j, k);
    force = hourglass_forces(position, velocity, gradient, here, density * s.ss[at] * here / thin);
    for (int c = 0; c < corners; ++c) force[c] += push * gradient[c];
  });
}

void Hydro::accelerate_nodes(double step) {
  State& s = state_;
  each_index(nodes_of(s.box), [&](int64_t i, int64_t j, int64_t k) {
    const auto at = static_cast<size_t>(s.box.node(i, j, k));
    Vec3 change = (step / s.node_mass(i, j, k)) * forces_.on_node(i, j, k);
    // Nothing crosses the planes that divide the octants.
    if (s.box.first[0] + i == 0) change.x = 0;
    if (s.box.first[1] + j == 0) change.y = 0;
    if (s.box.first[2] + k == 0) change.z = 0;
    const Vec3 before = mean_velocity_[at];
    const Vec3 after = before + change;
    s.xd[at] = after.x;
    s.yd[at] = after.y;
    s.zd[at] = after.z;
    mean_velocity_[at] = 0.5 * (before + after);
    // Half of the way was made with the velocity before.
    s.x[at] += step * mean_velocity_[at].x - step / 2 * before.x;
    s.y[at] += step * mean_velocity_[at].y - step / 2 * before.y;
    s.z[at] += step * mean_velocity_[at].z - step / 2 * before.z;
  });
}

void Hydro::update_elements(double step) {
  State& s = state_;
  const double initial = s.initial_volume(), mass = s.element_mass();
  double limits[2] = {no_limit, no_limit};
  each_index(s.box.count, [&](int64_t i, int64_t j, int64_t k) {
    const auto at = static_cast<size_t>(s.box.element(i, j, k));
    double work = 0;
    for (int c = 0; c < corners; ++c)
      work += dot(forces_.of(i, j, k)[c], mean_velocity_[static_cast<size_t>(s.box.node(
                                              i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)))]);
    const Corners position = gather(s.box, s.x, s.y, s.z, i, j, k);
    const double here = volume(position);
    s.v[at] = here / initial;
    s.e[at] -= step * work / mass;
    s.p[at] = pressure(s.e[at], s.v[at]);
    s.ss[at] = sound_speed(s.e[at]);
    const double divergence =
        sum_of_products(volume_gradient(position), gather(s.box, s.xd, s.yd, s.zd, i, j, k)) / here;
    const double thin = thickness(position, here);
    limits[0] = std::min(limits[0], courant_limit(thin, s.ss[at], closing_speed(divergence, thin)));
    limits[1] = std::min(limits[1], dilation_limit(divergence));
  });
  // The least of numbers does not depend on their order.
  MPI_Allreduce(MPI_IN_PLACE, limits, 2, MPI_DOUBLE, MPI_MIN, communicator_);
  s.clock.courant_limit = limits[0];
  s.clock.dilation_limit = limits[1];
}

}  // namespace sedov
