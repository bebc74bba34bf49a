#include "checkpoint/array/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cairn::checkpoint {
namespace {

struct Sample {
  Grid grid;
  Extents extents{};
  std::vector<uint8_t> entries;
  uint32_t ranks = 1;

  [[nodiscard]] BoxTable table() const { return {entries.data(), ranks, grid.dimensions}; }
};

Sample draw_sample(std::mt19937& random) {
  Sample sample;
  Grid& grid = sample.grid;
  grid.dimensions = 1 + random() % 4;
  for (unsigned k = 0; k < grid.dimensions; ++k) {
    Cut cut;
    cut.pieces = 1 + random() % 4;
    if (random() % 2 == 0) {
      cut.extent = cut.pieces + random() % 9;
    } else {
      cut.starts = {0};
      for (uint32_t i = 0; i < cut.pieces; ++i)
        cut.starts.push_back(cut.starts.back() + 1 + random() % 4);
      cut.extent = cut.starts.back();
      const Cut even{cut.extent, cut.pieces, {}};
      bool is_even = true;
      for (uint32_t i = 0; i < cut.pieces; ++i) is_even = is_even && even.start(i) == cut.starts[i];
      if (is_even) cut.starts.clear();
    }
    sample.extents[k] = cut.extent;
    sample.ranks *= cut.pieces;
    grid.cuts.push_back(cut);
  }
  std::vector<uint8_t> order;
  for (uint8_t k = 0; k < grid.dimensions; ++k) order.push_back(k);
  std::shuffle(order.begin(), order.end(), random);
  std::stable_partition(order.begin(), order.end(),
                        [&](uint8_t k) { return grid.cuts[k].pieces == 1; });
  const auto pieces =
      std::find_if(order.begin(), order.end(), [&](uint8_t k) { return grid.cuts[k].pieces != 1; });
  std::sort(order.begin(), pieces);
  std::copy(order.begin(), order.end(), grid.order.begin());
  for (uint32_t rank = 0; rank < sample.ranks; ++rank)
    append_box(&sample.entries, rank, grid.box_of(rank));
  return sample;
}

TEST(Grid, IsFoundInTheBoxesThatItMakes) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    const Sample sample = draw_sample(random);
    const auto found = find_grid(sample.table(), sample.extents);
    ASSERT_TRUE(found) << round;
    ASSERT_EQ(*found, sample.grid) << round;
  }
}

TEST(Grid, EachElementIsInThePieceThatHoldsIt) {
  std::mt19937 random(12);
  for (int round = 0; round < 500; ++round) {
    const Sample sample = draw_sample(random);
    for (const Cut& cut : sample.grid.cuts)
      for (uint64_t element = 0; element < cut.extent; ++element) {
        const uint32_t piece = cut.piece_of(element);
        ASSERT_LE(cut.start(piece), element);
        ASSERT_GT(cut.start(piece + 1), element);
      }
  }
}

TEST(Grid, IsNotFoundInWhatIsNone) {
  std::mt19937 random(13);
  for (int round = 0; round < 2000; ++round) {
    Sample sample = draw_sample(random);
    const BoxTable boxes = sample.table();
    std::vector<uint8_t> other;
    const uint32_t changed = random() % sample.ranks;
    const unsigned k = random() % sample.grid.dimensions;
    for (uint32_t rank = 0; rank < sample.ranks; ++rank) {
      Box box = boxes.box(rank);
      if (rank == changed) box.count[k] += 1;
      append_box(&other, rank, box);
    }
    ASSERT_FALSE(find_grid({other.data(), sample.ranks, sample.grid.dimensions}, sample.extents));
    ASSERT_FALSE(find_grid({other.data(), 0, sample.grid.dimensions}, sample.extents));
  }
}

TEST(Grid, AHugeArrayIsCutWithoutOverflow) {
  const Cut cut{max_elements, 4000000, {}};
  EXPECT_EQ(cut.start(4000000), max_elements);
  EXPECT_EQ(cut.piece_of(max_elements - 1), 3999999U);
  EXPECT_EQ(cut.piece_of(0), 0U);
}

}  // namespace
}  // namespace cairn::checkpoint
