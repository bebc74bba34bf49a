// Hourglass control: pressure does not feel the twelve motions of a hexahedron that keep its volume
// and its mean strain. A viscous force on them keeps the mesh from tangling (Flanagan and
// Belytschko 1981).
#pragma once

#include "hexahedron.h"

namespace sedov {

constexpr double hourglass_viscosity = 0.03;

// The forces on the corners. They are 0 for any linear field of velocities, so they resist no
// translation, rotation, expansion or shear. scale: density * speed of sound * area.
inline Corners hourglass_forces(const Corners& at, const Corners& velocity, const Corners& gradient,
                                double volume, double scale) {
  Corners force;
  for (int mode = 0; mode < 4; ++mode) {
    double shape[corners];  // yz, zx, xy, xyz as products of signs
    Vec3 stretch;
    for (int c = 0; c < corners; ++c) {
      const double x = c & 1 ? 1 : -1, y = c & 2 ? 1 : -1, z = c & 4 ? 1 : -1;
      shape[c] = mode == 0 ? y * z : mode == 1 ? z * x : mode == 2 ? x * y : x * y * z;
      stretch += shape[c] * at[c];
    }
    Vec3 amplitude;
    for (int c = 0; c < corners; ++c) {
      shape[c] -= dot(stretch, gradient[c]) / volume;
      amplitude += shape[c] * velocity[c];
    }
    for (int c = 0; c < corners; ++c)
      force[c] += -hourglass_viscosity * scale * shape[c] * amplitude;
  }
  return force;
}

}  // namespace sedov
