// The gas: ideal, with the constants of the Sedov problem.
#pragma once

#include <algorithm>
#include <cmath>

namespace sedov {

constexpr double heat_ratio = 1.4;  // gamma
constexpr double initial_density = 1;

// energy: internal, by mass. volume: relative to the initial one. Numerical errors may leave cold
// gas with an energy below zero, which has no pressure.
inline double pressure(double energy, double volume) {
  return (heat_ratio - 1) * initial_density / volume * std::max(energy, 0.0);
}
inline double sound_speed(double energy) {
  return std::sqrt(heat_ratio * (heat_ratio - 1) * std::max(energy, 0.0));
}

}  // namespace sedov
