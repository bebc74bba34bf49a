// Compares Darray with a plain loop over the elements, which deals them out like cards.
#include "checkpoint/array/darray.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/made_decompositions.h"

namespace cairn::checkpoint {
namespace {

DarrayRecord spread(Spread kind, uint32_t processes, uint64_t block = 0) {
  return {processes, static_cast<uint32_t>(kind), block};
}

Darray darray_of(std::vector<DarrayRecord> along, uint32_t rank_order = 0) {
  Darray darray{static_cast<uint32_t>(along.size()), rank_order, {}};
  std::copy(along.begin(), along.end(), darray.along.begin());
  return darray;
}

// Returns the coordinate of the process that gets each element.
std::vector<uint32_t> dealt(const DarrayRecord& one, uint64_t extent) {
  uint64_t block = one.argument;
  if (block == 0 && one.kind == 1) block = (extent + one.processes - 1) / one.processes;
  if (block == 0 && one.kind == 2) block = 1;
  std::vector<uint32_t> owners;
  uint32_t at = 0;
  uint64_t left = one.kind == 3 ? extent : block;
  for (uint64_t i = 0; i < extent; ++i) {
    if (left == 0) {
      at = (at + 1) % one.processes;
      left = block;
    }
    --left;
    owners.push_back(at);
  }
  return owners;
}

TEST(Darray, DimensionsAreDealtOut) {
  for (uint64_t extent = 0; extent < 23; ++extent)
    for (uint32_t processes = 1; processes < 7; ++processes)
      for (uint64_t block = 0; block < 27; ++block)
        for (const Spread kind : {Spread::block, Spread::cyclic, Spread::whole}) {
          const DarrayRecord one = spread(kind, processes, kind == Spread::whole ? 0 : block);
          const Darray darray = darray_of({one});
          const Box whole = whole_of(1, {extent});
          if (!darray.check(whole).ok()) {
            ASSERT_TRUE(kind == Spread::whole
                            ? processes != 1
                            : kind == Spread::block && block != 0 && block * processes < extent);
            continue;
          }
          const std::vector<uint32_t> owners = dealt(one, extent);
          const Darray same = darray.canonical(whole);
          ASSERT_TRUE(same.check(whole, processes).ok()) << last_detail();
          ASSERT_EQ(same, same.canonical(whole));
          for (uint32_t at = 0; at < processes; ++at) {
            const Stripes stripes = darray.stripes(0, extent, at);
            uint64_t place = 0;
            SharedIntervals all(stripes, stripes);
            SharedInterval interval;
            for (uint64_t i = 0; i < extent; ++i) {
              ASSERT_EQ(stripes.contains(i), owners[i] == at);
              if (owners[i] != at) continue;
              SharedIntervals of_one(stripes, {i, i + 1, 0, 0, 0});
              ASSERT_TRUE(of_one.next(&interval));
              ASSERT_EQ(interval.stored, static_cast<int64_t>(place++));
            }
            ASSERT_EQ(stripes.count(), place);
            ASSERT_EQ(at < darray.holders_along(0, extent), place != 0);
            ASSERT_EQ(same.stripes(0, extent, at), stripes) << "the same meaning";
          }
        }
}

TEST(Darray, CanonicalOnesAreEqualIfTheyMeanTheSame) {
  std::mt19937 random(44);
  for (int round = 0; round < 20000; ++round) {
    const uint64_t extent = random() % 20;
    const uint32_t processes = 1 + random() % 5;
    const auto draw = [&] {
      return darray_of(
          {spread(random() % 2 == 0 ? Spread::block : Spread::cyclic, processes, random() % 8)});
    };
    const Darray a = draw();
    const Darray b = draw();
    const Box whole = whole_of(1, {extent});
    if (!a.check(whole).ok() || !b.check(whole).ok()) continue;
    const bool is_same = dealt(a.along[0], extent) == dealt(b.along[0], extent);
    ASSERT_EQ(a.canonical(whole) == b.canonical(whole), is_same) << round;
  }
}

TEST(Darray, RanksStandInTheGridByRowsOrColumns) {
  const Box whole = whole_of(2, {6, 10});
  for (const uint32_t order : {0U, 1U}) {
    const Darray darray =
        darray_of({spread(Spread::cyclic, 2), spread(Spread::cyclic, 3, 2)}, order);
    for (uint32_t rank = 0; rank < 6; ++rank) {
      const uint32_t row = order == 0 ? rank / 3 : rank % 2;
      const uint32_t column = order == 0 ? rank % 3 : rank / 2;
      const Section section = darray.section_of(whole, rank);
      EXPECT_EQ(section.along[0], darray.stripes(0, 6, row));
      EXPECT_EQ(section.along[1], darray.stripes(1, 10, column));
    }
  }
}

TEST(Darray, SaysWhatIsWrong) {
  const auto refused = [](const Darray& darray, const Box& whole, uint32_t ranks) {
    return darray.check(whole, ranks).code() == EINVAL ? last_detail() : "";
  };
  const Box line = whole_of(1, {10});
  EXPECT_STREQ(refused(darray_of({spread(Spread::cyclic, 4)}), line, 6),
               "a process grid of 4 for 6 ranks");
  EXPECT_STREQ(refused(darray_of({spread(Spread::cyclic, 0)}), line, 6),
               "dimension 0: 0 processes; expected at least 1");
  EXPECT_STREQ(refused(darray_of({spread(Spread::whole, 2)}), line, 2),
               "dimension 0: is not distributed, and the process grid has 2 there");
  EXPECT_STREQ(refused(darray_of({spread(Spread::block, 3, 3)}), line, 3),
               "dimension 0: a block of 3 elements for each of 3 processes; it has 10; "
               "is it cyclic?");
  EXPECT_STREQ(refused(darray_of({{2, 4, 0}}), line, 2), "dimension 0: unknown distribution 4");
  EXPECT_STRNE(refused(darray_of({spread(Spread::cyclic, 2)}, 2), line, 2), "");
  EXPECT_STRNE(refused(darray_of({spread(Spread::cyclic, 2)}), whole_of(2, {1, 1}), 2), "");
  // The product exceeds 32 bits.
  const std::vector<DarrayRecord> many(4, spread(Spread::cyclic, 65536));
  EXPECT_STREQ(refused(darray_of(many), whole_of(4, {2, 2, 2, 2}), 0),
               "a process grid of 65536 x 65536 x 65536 x 65536 for 0 ranks");
}

TEST(Darray, HugeNumbersStayInTheirArray) {
  constexpr uint64_t extent = uint64_t{1} << 62;
  const Box whole = whole_of(1, {extent});
  for (const uint32_t processes : {2U, 3U, UINT32_MAX})
    for (const uint64_t block : {uint64_t{0}, uint64_t{1}, extent / 2, extent, UINT64_MAX}) {
      const Darray darray = darray_of({spread(Spread::cyclic, processes, block)});
      ASSERT_TRUE(darray.check(whole, processes).ok());
      for (const uint32_t at : {0U, 1U, processes - 1}) {
        const Stripes stripes = darray.stripes(0, extent, at);
        EXPECT_LE(stripes.end, extent);
        EXPECT_LE(stripes.begin, stripes.end);
        EXPECT_LE(stripes.count(), extent);
      }
      EXPECT_EQ(darray.canonical(whole).stripes(0, extent, 1), darray.stripes(0, extent, 1));
    }
}

// Compares the holders of a section with a search of all ranks.
TEST(Darray, HoldersAreTheRanksThatMeetASection) {
  std::mt19937 random(45);
  for (int round = 0; round < 300; ++round) {
    const auto draw = [&](uint32_t processes) {
      return spread(processes == 1 ? Spread::whole : Spread::cyclic, processes, random() % 5);
    };
    const uint32_t rows = 1 + random() % 4;
    const uint32_t columns = 1 + random() % 4;
    const Box whole = whole_of(2, {random() % 30, random() % 30});
    Darray stored = darray_of({draw(rows), draw(columns)}, random() % 2);
    if (rows == 1) stored.along[0].argument = 0;
    if (columns == 1) stored.along[1].argument = 0;
    const auto made = make_darray(rows * columns, whole, stored);
    ASSERT_TRUE(made.ok()) << last_detail();
    const Darray other = darray_of({draw(3), draw(2)});
    for (uint32_t rank = 0; rank < 6; ++rank) {
      const Section wanted = rank % 2 == 0 ? other.section_of(whole, rank)
                                           : section_of({2, {2, 3}, {random() % 9, random() % 9}});
      std::vector<uint32_t> expected;
      for (uint32_t holder = 0; holder < rows * columns; ++holder)
        if (!is_empty(wanted) && intersects(made->section_of(holder).along[0], wanted.along[0]) &&
            intersects(made->section_of(holder).along[1], wanted.along[1]))
          expected.push_back(holder);
      ASSERT_EQ(made->holders_of(wanted), expected) << round;
    }
  }
}

}  // namespace
}  // namespace cairn::checkpoint
