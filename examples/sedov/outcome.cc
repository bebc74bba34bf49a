#include "outcome.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fixed_point_sum.h"

namespace sedov {
namespace {

double total_energy(const State& state, MPI_Comm communicator) {
  const Box& box = state.box;
  FixedPointSum sum(energy_of_blast / 8);
  for (const double energy : state.e) sum.add(state.element_mass() * energy);
  for (int64_t k = 0; k <= box.count[2]; ++k)
    for (int64_t j = 0; j <= box.count[1]; ++j)
      for (int64_t i = 0; i <= box.count[0]; ++i) {
        if (!box.owns_node(i, j, k)) continue;
        const auto at = static_cast<size_t>(box.node(i, j, k));
        const Vec3 velocity = {state.xd[at], state.yd[at], state.zd[at]};
        sum.add(state.node_mass(i, j, k) / 2 * dot(velocity, velocity));
      }
  int64_t all = sum.integer();
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, communicator);
  return sum.value(all);
}

// The energies of the plane z = 0 of the whole mesh. Each has one rank; the others add 0.
std::vector<double> plane_of_energies(const State& state, MPI_Comm communicator) {
  const Box& box = state.box;
  const int64_t size = state.decomposition.size;
  std::vector<double> plane(static_cast<size_t>(size * size), 0);
  if (box.first[2] == 0)
    for (int64_t j = 0; j < box.count[1]; ++j)
      for (int64_t i = 0; i < box.count[0]; ++i)
        plane[static_cast<size_t>((box.first[1] + j) * size + box.first[0] + i)] =
            state.e[static_cast<size_t>(box.element(i, j, 0))];
  MPI_Allreduce(MPI_IN_PLACE, plane.data(), static_cast<int>(plane.size()), MPI_DOUBLE, MPI_SUM,
                communicator);
  return plane;
}

double asymmetry(const std::vector<double>& plane, int64_t size) {
  double difference = 0, largest = 0;
  for (int64_t j = 0; j < size; ++j)
    for (int64_t i = 0; i < size; ++i) {
      const double energy = plane[static_cast<size_t>(j * size + i)];
      largest = std::max(largest, std::fabs(energy));
      difference =
          std::max(difference, std::fabs(energy - plane[static_cast<size_t>(i * size + j)]));
    }
  return difference / largest;
}

// The viscous pressure marks the shock: where its mean radius is.
double front_of(const State& state, MPI_Comm communicator) {
  const Box& box = state.box;
  FixedPointSum weights(energy_of_blast), radii(energy_of_blast);
  for (int64_t k = 0; k < box.count[2]; ++k)
    for (int64_t j = 0; j < box.count[1]; ++j)
      for (int64_t i = 0; i < box.count[0]; ++i) {
        const auto at = static_cast<size_t>(box.element(i, j, k));
        const double weight = state.q[at] * state.v[at] * state.initial_volume();
        Vec3 centre;
        for (const Vec3& each : gather(box, state.x, state.y, state.z, i, j, k))
          centre += 0.125 * each;
        weights.add(weight);
        radii.add(weight * length(centre));
      }
  int64_t sums[2] = {weights.integer(), radii.integer()};
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, communicator);
  return sums[0] == 0 ? 0 : radii.value(sums[1]) / weights.value(sums[0]);
}

uint64_t mixed(uint64_t bits) {  // the finaliser of splitmix64
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

uint64_t bits_of(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint64_t fingerprint(State& state, MPI_Comm communicator) {
  const Box& box = state.box;
  const auto size = static_cast<uint64_t>(state.decomposition.size);
  uint64_t sum = 0, name = 0;
  for (const Variable& variable : state.variables()) {
    ++name;
    const int64_t more = variable.is_nodal ? 1 : 0;
    for (int64_t k = 0; k < box.count[2] + more; ++k)
      for (int64_t j = 0; j < box.count[1] + more; ++j)
        for (int64_t i = 0; i < box.count[0] + more; ++i) {
          if (variable.is_nodal && !box.owns_node(i, j, k)) continue;
          const int64_t at = variable.is_nodal ? box.node(i, j, k) : box.element(i, j, k);
          const uint64_t place = ((static_cast<uint64_t>(box.first[2] + k) * (size + 1) +
                                   static_cast<uint64_t>(box.first[1] + j)) *
                                      (size + 1) +
                                  static_cast<uint64_t>(box.first[0] + i)) *
                                     16 +
                                 name;
          sum += mixed(bits_of((*variable.values)[static_cast<size_t>(at)]) + mixed(place));
        }
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, communicator);
  for (const double each :
       {state.clock.time, state.clock.step, state.clock.courant_limit, state.clock.dilation_limit})
    sum = mixed(sum + bits_of(each));
  return mixed(sum + static_cast<uint64_t>(state.clock.cycle));
}

}  // namespace

Outcome outcome_of(State& state, MPI_Comm communicator) {
  const int64_t size = state.decomposition.size;
  const std::vector<double> plane = plane_of_energies(state, communicator);
  Outcome outcome;
  outcome.origin_energy = plane[0];
  outcome.total_energy = total_energy(state, communicator);
  outcome.energy_error = outcome.total_energy / (energy_of_blast / 8) - 1;
  outcome.asymmetry = asymmetry(plane, size);
  outcome.front = front_of(state, communicator);
  outcome.expected_front = front_radius_constant * std::pow(state.clock.time, 0.4);
  outcome.fingerprint = fingerprint(state, communicator);
  return outcome;
}

}  // namespace sedov
