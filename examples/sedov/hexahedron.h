// Geometry of one element: a hexahedron with straight edges and bilinear faces.
//
// Corner c lies on the far side in x if bit 0 of c is set, in y for bit 1, in z for bit 2.
//
// A bilinear face halves the tetrahedron of its four corners. So its contribution to the volume is
// the mean of the two ways to divide it into triangles, and all formulas below are exact.
#pragma once

#include <algorithm>
#include <array>

#include "vec3.h"

namespace sedov {

constexpr int corners = 8;
using Corners = std::array<Vec3, corners>;

// The corners of each face, in the order that makes its normal point outwards.
inline constexpr int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

// Positions relative to corner 0: the formulas then lose no digits far from the origin.
inline Corners from_first(const Corners& at) {
  Corners relative;
  for (int c = 0; c < corners; ++c) relative[c] = at[c] - at[0];
  return relative;
}

inline double volume(const Corners& at) {
  const Corners p = from_first(at);
  double sum = 0;
  for (const auto& face : faces) {
    const Vec3 &a = p[face[0]], &b = p[face[1]], &c = p[face[2]], &d = p[face[3]];
    sum += dot(cross(a, b), c + d) + dot(a + b, cross(c, d));
  }
  return sum / 12;
}

// The derivative of the volume by the position of each corner: the area on which pressure pushes
// that corner.
inline Corners volume_gradient(const Corners& at) {
  const Corners p = from_first(at);
  Corners gradient;
  for (const auto& face : faces) {
    const Vec3 &a = p[face[0]], &b = p[face[1]], &c = p[face[2]], &d = p[face[3]];
    const Vec3 ab = cross(a, b), bc = cross(b, c), cd = cross(c, d), da = cross(d, a);
    const Vec3 ac = cross(a, c), bd = cross(b, d);
    gradient[face[0]] += bc + cd + bd;
    gradient[face[1]] += cd + da - ac;
    gradient[face[2]] += da + ab - bd;
    gradient[face[3]] += ab + bc + ac;
  }
  for (Vec3& each : gradient) each = (1.0 / 12) * each;
  return gradient;
}

// The way through the element in the direction in which it is thinnest.
inline double thickness(const Corners& at, double its_volume) {
  Vec3 axis[3];  // from the middle of a face to that of the opposite one
  for (int c = 0; c < corners; ++c)
    for (int d = 0; d < 3; ++d) axis[d] += (c >> d & 1 ? 0.25 : -0.25) * at[c];
  const double area = std::max({length(cross(axis[0], axis[1])), length(cross(axis[1], axis[2])),
                                length(cross(axis[2], axis[0]))});
  return its_volume / area;
}

}  // namespace sedov
