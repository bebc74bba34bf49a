// The arithmetic of examples/sedov, element by element: volumes and their derivatives, hourglass
// forces, sums without an order, and the division of the mesh.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include "../../examples/sedov/decomposition.h"
#include "../../examples/sedov/fixed_point_sum.h"
#include "../../examples/sedov/hexahedron.h"
#include "../../examples/sedov/hourglass.h"

namespace sedov {
namespace {

Corners box(double a, double b, double c) {
  Corners at;
  for (int n = 0; n < corners; ++n) at[n] = {n & 1 ? a : 0, n & 2 ? b : 0, n & 4 ? c : 0};
  return at;
}

Corners distorted(std::mt19937& random) {
  std::uniform_real_distribution<double> shift(-0.2, 0.2);
  Corners at = box(1, 1, 1);
  for (Vec3& each : at) each += Vec3{3 + shift(random), shift(random), shift(random) - 2};
  return at;
}

// The determinant of the trilinear map's derivative, integrated by Gauss points. Three in each
// direction are exact.
double integrated_volume(const Corners& at) {
  const double points[3] = {0.5 - std::sqrt(0.15), 0.5, 0.5 + std::sqrt(0.15)};
  const double weights[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) {
        const double u[3] = {points[i], points[j], points[k]};
        Vec3 derivative[3];
        for (int c = 0; c < corners; ++c)
          for (int d = 0; d < 3; ++d) {
            double weight = c >> d & 1 ? 1 : -1;
            for (int other = 0; other < 3; ++other)
              if (other != d) weight *= c >> other & 1 ? u[other] : 1 - u[other];
            derivative[d] += weight * at[c];
          }
        sum += weights[i] * weights[j] * weights[k] *
               dot(derivative[0], cross(derivative[1], derivative[2]));
      }
  return sum;
}

TEST(Hexahedron, VolumeOfABox) {
  EXPECT_DOUBLE_EQ(24, volume(box(2, 3, 4)));
  EXPECT_DOUBLE_EQ(2, thickness(box(2, 3, 4), 24));
}

TEST(Hexahedron, VolumeIsThatOfTheTrilinearMap) {
  std::mt19937 random(1);
  for (int n = 0; n < 100; ++n) {
    const Corners at = distorted(random);
    EXPECT_NEAR(integrated_volume(at), volume(at), 1e-14);
  }
}

TEST(Hexahedron, GradientIsTheDerivativeOfTheVolume) {
  std::mt19937 random(2);
  const double step = 1e-4;  // the volume is linear in each coordinate, so differences are exact
  for (int n = 0; n < 20; ++n) {
    const Corners at = distorted(random);
    const Corners gradient = volume_gradient(at);
    Vec3 sum;
    for (int c = 0; c < corners; ++c) {
      sum += gradient[c];
      for (double Vec3::*along : {&Vec3::x, &Vec3::y, &Vec3::z}) {
        Corners low = at, high = at;
        low[c].*along -= step;
        high[c].*along += step;
        EXPECT_NEAR((volume(high) - volume(low)) / (2 * step), gradient[c].*along, 1e-11);
      }
    }
    EXPECT_NEAR(0, length(sum), 1e-15);  // pressure alone does not push an element anywhere
  }
}

TEST(Hourglass, ResistsNoLinearMotion) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-1, 1);
  const Corners at = distorted(random);
  const Vec3 row[3] = {{any(random), any(random), any(random)},
                       {any(random), any(random), any(random)},
                       {any(random), any(random), any(random)}};
  Corners velocity;
  for (int c = 0; c < corners; ++c)
    velocity[c] = Vec3{dot(row[0], at[c]), dot(row[1], at[c]), dot(row[2], at[c])} + row[0];
  for (const Vec3& force : hourglass_forces(at, velocity, volume_gradient(at), volume(at), 1))
    EXPECT_NEAR(0, length(force), 1e-14);
}

TEST(Hourglass, TakesEnergyFromOtherMotions) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> any(-1, 1);
  const Corners at = distorted(random);
  for (int n = 0; n < 50; ++n) {
    Corners velocity;
    for (Vec3& each : velocity) each = {any(random), any(random), any(random)};
    const Corners force = hourglass_forces(at, velocity, volume_gradient(at), volume(at), 1);
    double power = 0;
    Vec3 sum;
    for (int c = 0; c < corners; ++c) {
      power += dot(force[c], velocity[c]);
      sum += force[c];
    }
    EXPECT_LT(power, 0);
    EXPECT_NEAR(0, length(sum), 1e-14);
  }
}

TEST(FixedPointSum, DoesNotDependOnTheOrder) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<double> terms(10000);
  for (double& term : terms) term = any(random) * std::pow(10, 6 * any(random) - 6);
  double plain = 0;
  std::set<int64_t> sums;
  for (int n = 0; n < 5; ++n) {
    FixedPointSum all(1), first(1), rest(1);
    plain = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      all.add(terms[i]);
      (i < 3000 ? first : rest).add(terms[i]);
      plain += terms[i];
    }
    sums.insert(all.integer());
    sums.insert(first.integer() + rest.integer());
    EXPECT_NEAR(plain, all.value(all.integer()), 1e-12);
    std::shuffle(terms.begin(), terms.end(), random);
  }
  EXPECT_EQ(1U, sums.size());
}

TEST(Decomposition, BoxesTileTheMesh) {
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 12, 27, 30}) {
    const Decomposition mesh = decompose(7, ranks);
    std::set<std::array<int64_t, 3>> elements, nodes;
    for (int rank = 0; rank < ranks; ++rank) {
      const Box part = mesh.box(rank);
      for (int64_t k = 0; k <= part.count[2]; ++k)
        for (int64_t j = 0; j <= part.count[1]; ++j)
          for (int64_t i = 0; i <= part.count[0]; ++i) {
            const Index3 at = {part.first[0] + i, part.first[1] + j, part.first[2] + k};
            const bool is_element = i < part.count[0] && j < part.count[1] && k < part.count[2];
            EXPECT_TRUE(!is_element || elements.insert(at).second);
            EXPECT_TRUE(!part.owns_node(i, j, k) || nodes.insert(at).second);
          }
    }
    EXPECT_EQ(343U, elements.size()) << ranks;
    EXPECT_EQ(512U, nodes.size()) << ranks;
  }
}

TEST(Decomposition, PrefersCubes) {
  EXPECT_EQ((std::array<int, 3>{2, 2, 2}), decompose(8, 8).ranks);
  EXPECT_EQ((std::array<int, 3>{3, 3, 3}), decompose(8, 27).ranks);
  EXPECT_EQ((std::array<int, 3>{0, 0, 0}), decompose(8, 11).ranks);
}

TEST(Decomposition, NeighboursShareAFace) {
  const Decomposition mesh = decompose(8, 12);
  for (int rank = 0; rank < 12; ++rank)
    for (int d = 0; d < 3; ++d) {
      const int next = mesh.neighbour(rank, d, 1);
      if (next < 0) continue;
      EXPECT_EQ(rank, mesh.neighbour(next, d, -1));
      EXPECT_EQ(mesh.box(rank).first[d] + mesh.box(rank).count[d], mesh.box(next).first[d]);
      EXPECT_EQ(mesh.box(rank).first[(d + 1) % 3], mesh.box(next).first[(d + 1) % 3]);
      EXPECT_EQ(mesh.box(rank).count[(d + 2) % 3], mesh.box(next).count[(d + 2) % 3]);
    }
}

}  // namespace
}  // namespace sedov
