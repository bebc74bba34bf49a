// The length of the time step: stable for sound and for the viscosity, and short enough that no
// volume changes much.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "state.h"
#include "viscosity.h"

namespace sedov {

constexpr double courant_number = 0.5;
constexpr double most_dilation = 0.1;  // share of a volume by which it may change in one step
constexpr double most_growth = 1.1;    // of the step from one cycle to the next

constexpr double no_limit = std::numeric_limits<double>::infinity();

// A viscosity makes velocities diffuse, which limits an explicit step as sound does.
inline double courant_limit(double thickness, double sound, double closing) {
  const double diffusion = 2 * (quadratic_viscosity * closing + linear_viscosity * sound);
  const double speed = sound + diffusion;
  return speed > 0 ? courant_number * thickness / speed : no_limit;
}

inline double dilation_limit(double divergence) {
  return divergence != 0 ? most_dilation / std::fabs(divergence) : no_limit;
}

inline double first_step(double thickness, double sound) {
  return 0.1 * courant_limit(thickness, sound, 0);
}

// The next step: within both limits, not much longer than the last one, and not beyond `end`.
inline double next_step(const Clock& clock, double end) {
  return std::min(
      {clock.courant_limit, clock.dilation_limit, most_growth * clock.step, end - clock.time});
}

}  // namespace sedov
