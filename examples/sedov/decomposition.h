// Decomposition divides the mesh into one box of elements for each rank.
#pragma once

#include <array>
#include <cstdint>

namespace sedov {

using Index3 = std::array<int64_t, 3>;  // x, y, z

// A part of the global mesh, in elements.
struct Box {
  Index3 first = {};
  Index3 count = {};

  [[nodiscard]] int64_t elements() const { return count[0] * count[1] * count[2]; }
  [[nodiscard]] int64_t nodes() const { return (count[0] + 1) * (count[1] + 1) * (count[2] + 1); }
  // Where an element or node of the box lies in its arrays: x runs fastest.
  [[nodiscard]] int64_t element(int64_t i, int64_t j, int64_t k) const {
    return (k * count[1] + j) * count[0] + i;
  }
  [[nodiscard]] int64_t node(int64_t i, int64_t j, int64_t k) const {
    return (k * (count[1] + 1) + j) * (count[0] + 1) + i;
  }
  // Neighbours hold the nodes of common faces, too. Each node counts for one of them.
  [[nodiscard]] bool owns_node(int64_t i, int64_t j, int64_t k) const {
    return (i > 0 || first[0] == 0) && (j > 0 || first[1] == 0) && (k > 0 || first[2] == 0);
  }
};

struct Decomposition {
  int64_t size = 0;               // elements along each edge of the mesh
  std::array<int, 3> ranks = {};  // along x, y, z; {0, 0, 0}: the mesh is too small for them

  [[nodiscard]] std::array<int, 3> place(int rank) const {
    return {rank % ranks[0], rank / ranks[0] % ranks[1], rank / ranks[0] / ranks[1]};
  }
  // -1 outside of the mesh.
  [[nodiscard]] int neighbour(int rank, int dimension, int step) const {
    std::array<int, 3> at = place(rank);
    at[dimension] += step;
    if (at[dimension] < 0 || at[dimension] >= ranks[dimension]) return -1;
    return (at[2] * ranks[1] + at[1]) * ranks[0] + at[0];
  }
  [[nodiscard]] Box box(int rank) const {
    Box box;
    for (int d = 0; d < 3; ++d) {
      const int64_t at = place(rank)[d];
      box.first[d] = size * at / ranks[d];
      box.count[d] = size * (at + 1) / ranks[d] - box.first[d];
    }
    return box;
  }
};

// The boxes with the least surface. Any number of ranks will do that is a product of three numbers
// up to `size`.
inline Decomposition decompose(int64_t size, int ranks) {
  Decomposition best{size, {}};
  int64_t least = INT64_MAX;
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const int z = ranks / x / y;
      if (x > size || y > size || z > size || x + y + z >= least) continue;
      least = x + y + z;  // all cuts have the same area, size * size
      best.ranks = {x, y, z};
    }
  }
  return best;
}

}  // namespace sedov
