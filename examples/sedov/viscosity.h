// Artificial viscosity: a pressure that widens a shock to some elements, so that the mesh can show
// it. A term of von Neumann and Richtmyer, quadratic in the velocity jump across the element, and
// Landshoff's linear one damps the ringing behind the shock (Wilkins 1980).
#pragma once

namespace sedov {

constexpr double quadratic_viscosity = 1.33;
constexpr double linear_viscosity = 0.3;

// The speed with which the two sides of an element approach each other; 0 while it expands.
inline double closing_speed(double divergence, double thickness) {
  return divergence < 0 ? -divergence * thickness : 0;
}

inline double viscous_pressure(double density, double sound, double closing) {
  return density * closing * (quadratic_viscosity * closing + linear_viscosity * sound);
}

}  // namespace sedov
