#include "checkpoint/array/box_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace cairn::checkpoint {
namespace {

using Elements = std::set<std::pair<uint64_t, uint64_t>>;

// Fails if an element is in two boxes.
Elements elements_of(const std::vector<Box>& boxes) {
  Elements all;
  for (const Box& box : boxes)
    for (uint64_t i = 0; i < box.count[0]; ++i)
      for (uint64_t j = 0; j < box.count[1]; ++j)
        EXPECT_TRUE(all.emplace(box.offset[0] + i, box.offset[1] + j).second) << shown(box);
  return all;
}

Box draw(std::mt19937* random) {
  const auto below = [&](uint64_t end) { return uint64_t{(*random)()} % end; };
  return Box{2, {below(6), below(6)}, {1 + below(5), 1 + below(5)}};
}

TEST(BoxSet, SubtractLeavesWhatTheHoleHasNot) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<Box> boxes = {draw(&random)};
    Elements wanted = elements_of(boxes);
    for (int holes = 0; holes < 3; ++holes) {
      const Box hole = draw(&random);
      subtract(&boxes, hole);
      for (const auto& element : elements_of({hole})) wanted.erase(element);
      ASSERT_EQ(elements_of(boxes), wanted);
      join(&boxes);
      ASSERT_EQ(elements_of(boxes), wanted);
    }
  }
}

TEST(BoxSet, ScalarsHaveOneElement) {
  std::vector<Box> boxes = {Box{}};
  join(&boxes);
  EXPECT_EQ(boxes.size(), 1U);
  subtract(&boxes, Box{});
  EXPECT_TRUE(boxes.empty());
}

// The ranks of a node are often a block of the grid.
TEST(BoxSet, BlocksOfAGridBecomeOneBox) {
  std::vector<Box> boxes;
  for (uint64_t i = 0; i < 4; ++i)
    for (uint64_t j = 0; j < 3; ++j) boxes.push_back({2, {i * 5, j * 7}, {5, 7}});
  join(&boxes);
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_EQ(boxes.front(), (Box{2, {0, 0}, {20, 21}}));
}

TEST(BoxSet, RowsAreJoinedFirst) {
  // A corner is missing: the upper row is one box, and not the left column.
  std::vector<Box> boxes = {{2, {0, 0}, {1, 1}}, {2, {0, 1}, {1, 1}}, {2, {1, 0}, {1, 1}}};
  join(&boxes);
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_NE(std::find(boxes.begin(), boxes.end(), Box{2, {0, 0}, {1, 2}}), boxes.end());
}

}  // namespace
}  // namespace cairn::checkpoint
