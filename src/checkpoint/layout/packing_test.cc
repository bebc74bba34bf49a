#include "checkpoint/layout/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/sample_contents.h"

namespace cairn::checkpoint {
namespace {

// The rule, word by word.
struct Oracle {
  std::vector<Piece> pieces;
  uint64_t p = 0;

  Oracle(const Contents& contents, uint32_t rank) {
    const Layout& layout = contents.layout();
    for (const bool is_large : {false, true})
      for (uint32_t v = 0; v < layout.variables(); ++v) {
        const Variable variable = layout.variable(v);
        const Decomposition& decomposition = contents.decomposition_of(variable);
        uint64_t bytes = 0;
        if (decomposition.kind() == DecompositionKind::replicated) {
          if (rank == 0) bytes = variable.element_size * *volume(decomposition.whole());
        } else if (!decomposition.is_counted()) {
          bytes = variable.element_size * decomposition.elements_of(rank);
        }
        if (bytes == 0 || (bytes > layout.pack_limit()) != is_large) continue;
        const uint64_t unit = is_large ? layout.alignment() : 16;
        while (p % unit != 0) ++p;
        pieces.push_back({v, p, bytes});
        p += bytes;
      }
  }
};

TEST(Packing, FollowsTheRule) {
  std::mt19937 random(51);
  for (int round = 0; round < 300; ++round) {
    SampleContents sample;
    const uint32_t ranks = 1 + random() % 5;
    sample.definition.ranks = ranks;
    sample.definition.pack_limit = random() % 3000;
    sample.definition.alignment = 16U << (random() % 10);
    for (uint64_t i = random() % 12; i != 0; --i) {
      const uint64_t rows = ranks + random() % 30;
      auto decomposition = random() % 3 == 0
                               ? std::move(*make_replicated(ranks, {2, {}, {rows, 3}}))
                               : cut_evenly(ranks, rows, 1 + random() % 50);
      const uint64_t size = 1 + random() % 20;
      const Decomposition& added = sample.add(std::move(decomposition));
      sample.define("v" + std::to_string(i), Type::opaque, size, added);
    }
    const auto contents = sample.contents();
    ASSERT_TRUE(contents.ok()) << last_detail();
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const Oracle oracle(*contents, rank);
      const auto packed = pack_region(*contents, rank);
      ASSERT_TRUE(packed.ok()) << last_detail();
      ASSERT_EQ(packed->bytes, oracle.p);
      ASSERT_EQ(packed->pieces.size(), oracle.pieces.size());
      for (size_t i = 0; i < oracle.pieces.size(); ++i) {
        ASSERT_EQ(packed->pieces[i].variable, oracle.pieces[i].variable);
        ASSERT_EQ(packed->pieces[i].offset, oracle.pieces[i].offset);
        ASSERT_EQ(packed->pieces[i].bytes, oracle.pieces[i].bytes);
      }
    }
  }
}

TEST(Packing, CountedVariablesAreNotInARegion) {
  SampleContents sample = sample_contents();
  const auto contents = sample.contents();
  ASSERT_TRUE(contents.ok()) << last_detail();
  const auto packed = pack_region(*contents, 0);
  ASSERT_TRUE(packed.ok());
  for (const Piece& piece : packed->pieces)
    EXPECT_FALSE(contents->is_counted(contents->layout().variable(piece.variable)));
  EXPECT_EQ(packed->pieces.size(), 4U);
}

TEST(Packing, RegionsDoNotMeet) {
  SampleContents sample = sample_contents();
  const auto contents = sample.contents();
  ASSERT_TRUE(contents.ok()) << last_detail();
  const auto regions = place_regions(*contents, {0, 1, 3});
  ASSERT_TRUE(regions.ok()) << last_detail();
  ASSERT_EQ(regions->offset.size(), 3U);
  EXPECT_EQ(regions->offset[0], region_unit);
  uint64_t end = 0;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(regions->offset[i] % region_unit, 0U);
    EXPECT_GE(regions->offset[i], end);
    end = regions->offset[i] + bytes_with_list(regions->bytes[i], contents->layout().block_bytes());
  }
  EXPECT_GE(regions->end, end);
  EXPECT_EQ(regions->end % region_unit, 0U);
}

TEST(Packing, ARegionWithoutBytesHasNoList) {
  EXPECT_EQ(bytes_with_list(0, 1 << 20), 0U);
  EXPECT_EQ(bytes_with_list(1, 1 << 20), 68U);
  EXPECT_EQ(bytes_with_list((1 << 20) + 1, 1 << 20), (1U << 20) + 64 + 8);
}

TEST(Packing, RefusesWhatIsTooLarge) {
  SampleContents sample;
  sample.definition.ranks = 1;
  const Decomposition& whole = sample.add(cut_evenly(1, uint64_t{1} << 40, 1));
  sample.define("v", Type::opaque, 65, whole);
  const auto contents = sample.contents();
  ASSERT_TRUE(contents.ok()) << last_detail();
  EXPECT_EQ(pack_region(*contents, 0).code(), EOVERFLOW);
  EXPECT_EQ(place_regions(*contents, {0}).code(), EOVERFLOW);

  SampleContents two;
  two.definition.ranks = 1;
  const Decomposition& half = two.add(cut_evenly(1, uint64_t{1} << 40, 1));
  two.define("a", Type::opaque, 40, half);
  two.define("b", Type::opaque, 40, half);
  const auto sum = two.contents();
  ASSERT_TRUE(sum.ok()) << last_detail();
  EXPECT_EQ(pack_region(*sum, 0).code(), EOVERFLOW);
}

}  // namespace
}  // namespace cairn::checkpoint
