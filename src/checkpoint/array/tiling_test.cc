#include "checkpoint/array/tiling.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cairn::checkpoint {
namespace {

struct Boxes {
  std::vector<Box> all;
  Extents extents{};
  unsigned dimensions = 0;

  [[nodiscard]] Tiling check(bool may_overlap) const {
    std::vector<uint8_t> entries;
    for (uint32_t i = 0; i < all.size(); ++i) append_box(&entries, 10 + i, all[i]);
    return check_tiling({entries.data(), all.size(), dimensions}, extents, may_overlap);
  }
  // Returns how many boxes have an element, at least and at most.
  [[nodiscard]] std::pair<uint64_t, uint64_t> least_and_most() const {
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    Box element{dimensions, {}, {}};
    element.count.fill(1);
    for (;;) {
      uint64_t n = 0;
      for (const Box& box : all) n += contains(box, element) ? 1 : 0;
      least = std::min(least, n);
      most = std::max(most, n);
      unsigned k = 0;
      while (k < dimensions && ++element.offset[k] == extents[k]) element.offset[k++] = 0;
      if (k == dimensions) return {least, most};
    }
  }
};

// Cuts the array at random places repeatedly.
Boxes draw_boxes(std::mt19937& random) {
  Boxes boxes;
  boxes.dimensions = 1 + random() % 3;
  for (unsigned k = 0; k < boxes.dimensions; ++k) boxes.extents[k] = 1 + random() % 7;
  boxes.all.push_back(whole_of(boxes.dimensions, boxes.extents));
  for (uint64_t cuts = random() % 12; cuts != 0; --cuts) {
    Box& box = boxes.all[random() % boxes.all.size()];
    const unsigned k = random() % boxes.dimensions;
    if (box.count[k] < 2) continue;
    Box rest = box;
    box.count[k] = 1 + random() % (box.count[k] - 1);
    rest.offset[k] += box.count[k];
    rest.count[k] -= box.count[k];
    boxes.all.push_back(rest);
  }
  std::shuffle(boxes.all.begin(), boxes.all.end(), random);
  return boxes;
}

void change(Boxes* boxes, std::mt19937& random) {
  const size_t i = random() % boxes->all.size();
  Box& box = boxes->all[i];
  const unsigned k = random() % boxes->dimensions;
  switch (random() % 4) {
    case 0:
      boxes->all.erase(boxes->all.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    case 1:
      boxes->all.push_back(Box(box));
      break;
    case 2:
      if (box.offset[k] + box.count[k] < boxes->extents[k]) ++box.count[k];
      break;
    default:
      if (box.offset[k] != 0) --box.offset[k];
  }
}

TEST(Tiling, ArraysThatWereCutAreWhole) {
  std::mt19937 random(21);
  for (int round = 0; round < 3000; ++round) {
    const Boxes boxes = draw_boxes(random);
    ASSERT_EQ(boxes.check(false).fault, TilingFault::none);
    ASSERT_EQ(boxes.check(true).fault, TilingFault::none);
  }
}

// Compares the check with the count of boxes at each element.
TEST(Tiling, FindsEachGapAndOverlap) {
  std::mt19937 random(22);
  int faults = 0;
  for (int round = 0; round < 5000; ++round) {
    Boxes boxes = draw_boxes(random);
    for (uint64_t changes = 1 + random() % 3; changes != 0 && !boxes.all.empty(); --changes)
      change(&boxes, random);
    const auto [least, most] = boxes.least_and_most();
    for (const bool may_overlap : {false, true}) {
      const Tiling tiling = boxes.check(may_overlap);
      const bool is_whole = least >= 1 && (may_overlap || most <= 1);
      ASSERT_EQ(tiling.fault == TilingFault::none, is_whole) << round;
      if (tiling.fault == TilingFault::gap) {
        for (const Box& box : boxes.all) ASSERT_FALSE(intersects(box, tiling.where));
      } else if (tiling.fault == TilingFault::overlap) {
        ASSERT_LT(tiling.first, tiling.second);
        ASSERT_FALSE(is_empty(tiling.where));
        ASSERT_TRUE(contains(boxes.all[tiling.first - 10], tiling.where));
        ASSERT_TRUE(contains(boxes.all[tiling.second - 10], tiling.where));
      }
      faults += is_whole ? 0 : 1;
    }
  }
  EXPECT_GT(faults, 1000);
}

TEST(Tiling, AnArrayWithoutElementsNeedsNoBox) {
  EXPECT_EQ((Boxes{{}, Extents{3, 0}, 2}).check(false).fault, TilingFault::none);
  EXPECT_EQ((Boxes{{}, Extents{3, 1}, 2}).check(false).fault, TilingFault::gap);
}

// Pencils along all three axes, side by side: no plane cuts between many of them.
TEST(Tiling, IrregularBoxesEndInTime) {
  constexpr uint64_t n = 40;
  Boxes boxes;
  boxes.dimensions = 3;
  boxes.extents = {2 * n, 2 * n, 2 * n};
  for (uint64_t i = 0; i < n; ++i)
    for (uint64_t j = 0; j < n; ++j) {
      boxes.all.push_back({3, {0, 2 * i, 2 * j}, {2 * n, 1, 1}});
      boxes.all.push_back({3, {2 * i, 0, 2 * j + 1}, {1, 2 * n, 1}});
      boxes.all.push_back({3, {2 * i + 1, 2 * j + 1, 0}, {1, 1, 2 * n}});
    }
  EXPECT_NE(boxes.check(false).fault, TilingFault::none);
}

TEST(Tiling, ManyBoxesTakeAMoment) {
  Boxes boxes;
  boxes.dimensions = 3;
  constexpr uint64_t n = 40;
  boxes.extents = {n * 3, n * 3, n * 3};
  for (uint64_t i = 0; i < n; ++i)
    for (uint64_t j = 0; j < n; ++j)
      for (uint64_t k = 0; k < n; ++k) boxes.all.push_back({3, {3 * i, 3 * j, 3 * k}, {3, 3, 3}});
  EXPECT_EQ(boxes.check(false).fault, TilingFault::none);
}

}  // namespace
}  // namespace cairn::checkpoint
