#include "checkpoint/array/box.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn::checkpoint {
namespace {

bool has(const Box& box, uint64_t i, uint64_t j) {
  return i >= box.offset[0] && i - box.offset[0] < box.count[0] && j >= box.offset[1] &&
         j - box.offset[1] < box.count[1];
}

// Compares the arithmetic with a look at each element.
TEST(Box, IntersectionIsWhatBothHave) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto draw = [&] {
      Box box{2, {random() % 6, random() % 6}, {}};
      for (size_t k = 0; k < 2; ++k) box.count[k] = random() % (7 - box.offset[k]);
      return box;
    };
    const Box a = draw();
    const Box b = draw();
    const Box both = intersection(a, b);
    uint64_t elements = 0;
    bool is_inside = true;
    for (uint64_t i = 0; i < 7; ++i)
      for (uint64_t j = 0; j < 7; ++j) {
        ASSERT_EQ(has(both, i, j), has(a, i, j) && has(b, i, j));
        elements += has(both, i, j) ? 1 : 0;
        is_inside = is_inside && (!has(b, i, j) || has(a, i, j));
      }
    ASSERT_EQ(volume(both), elements);
    ASSERT_EQ(intersects(a, b), elements != 0);
    if (is_empty(b)) continue;
    ASSERT_EQ(contains(a, b), is_inside) << shown(a) << shown(b);
  }
}

TEST(Box, VolumesThatOverflowAreNone) {
  EXPECT_EQ(volume({0, {}, {}}), 1U);
  EXPECT_EQ(volume({2, {}, {uint64_t{1} << 31, uint64_t{1} << 31}}), max_elements);
  EXPECT_FALSE(volume({2, {}, {uint64_t{1} << 31, (uint64_t{1} << 31) + 1}}));
  EXPECT_FALSE(volume({3, {}, {uint64_t{1} << 40, uint64_t{1} << 24, 1}}));
  EXPECT_EQ(volume({3, {}, {UINT64_MAX, UINT64_MAX, 0}}), 0U);
}

TEST(Box, FitsOnlyInsideTheArray) {
  const Extents extents{10, 4};
  EXPECT_TRUE(fits({2, {10, 0}, {0, 4}}, extents));
  EXPECT_TRUE(fits({2, {3, 1}, {7, 3}}, extents));
  EXPECT_FALSE(fits({2, {3, 1}, {8, 3}}, extents));
  EXPECT_FALSE(fits({2, {11, 0}, {0, 4}}, extents));
  EXPECT_FALSE(fits({2, {5, 0}, {UINT64_MAX - 2, 4}}, extents)) << "the sum wraps around";
}

TEST(Box, IsShownWithoutItsEnd) {
  EXPECT_EQ(shown({2, {0, 16}, {4, 16}}), "[0:4, 16:32]");
  EXPECT_EQ(shown({}), "[]");
}

}  // namespace
}  // namespace cairn::checkpoint
