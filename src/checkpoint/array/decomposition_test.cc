#include "checkpoint/array/decomposition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "checkpoint/array/box_table.h"
#include "checkpoint/record/head.h"
#include "checkpoint/record/records.h"
#include "support/made_decompositions.h"

namespace cairn::checkpoint {
namespace {

using Kind = DecompositionKind;

std::vector<uint8_t> entries_of(const std::vector<std::pair<uint32_t, Box>>& boxes) {
  std::vector<uint8_t> entries;
  for (const auto& [rank, box] : boxes) append_box(&entries, rank, box);
  return entries;
}

Box whole(uint64_t rows, uint64_t columns) { return {2, {}, {rows, columns}}; }

Result<Decomposition> made(uint32_t ranks, const Box& array,
                           const std::vector<std::pair<uint32_t, Box>>& boxes,
                           Owner owner = Owner::nobody) {
  return make_boxes(ranks, array, owner, entries_of(boxes));
}

// The boxes of ranks 0 to 3 form a windmill, which is not a grid.
const std::vector<std::pair<uint32_t, Box>> windmill = {{0, {2, {0, 0}, {2, 3}}},
                                                        {1, {2, {0, 3}, {3, 2}}},
                                                        {2, {2, {3, 2}, {2, 3}}},
                                                        {3, {2, {2, 0}, {3, 2}}},
                                                        {5, {2, {2, 2}, {1, 1}}}};

void expect_same(const Decomposition& a, const Decomposition& b) {
  EXPECT_EQ(a.record(), b.record());
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_EQ(a.kind(), b.kind());
  EXPECT_EQ(a.owner(), b.owner());
  EXPECT_EQ(a.whole(), b.whole());
  ASSERT_EQ(a.ranks(), b.ranks());
  for (uint32_t rank = 0; rank < a.ranks(); ++rank)
    EXPECT_EQ(a.section_of(rank), b.section_of(rank));
}

// Returns one decomposition of each kind, with its name.
std::vector<std::pair<std::string, Decomposition>> samples() {
  std::vector<std::pair<std::string, Decomposition>> all;
  const auto add = [&](const char* name, Result<Decomposition> sample) {
    EXPECT_TRUE(sample.ok()) << name << ": " << last_detail();
    if (sample.ok()) all.emplace_back(name, std::move(*sample));
  };
  add("replicated", make_replicated(4, whole(3, 2)));
  add("scalar", make_replicated(4, {}));
  add("ragged", make_counted(Kind::ragged, 4));
  add("even grid", made(2, whole(5, 4), {{0, {2, {0, 0}, {3, 4}}}, {1, {2, {3, 0}, {2, 4}}}}));
  add("listed grid", made(2, whole(5, 4), {{0, {2, {0, 0}, {1, 4}}}, {1, {2, {1, 0}, {4, 4}}}}));
  add("boxes", made(6, whole(5, 5), windmill));
  add("owner", made(2, whole(5, 4), {{0, {2, {0, 0}, {3, 4}}}, {1, {2, {2, 0}, {3, 4}}}},
                    Owner::highest_rank));
  add("nothing", made(2, whole(0, 4), {}));
  // Blocks of two rows, and one column each.
  Darray cyclic{2, 0, {DarrayRecord{2, 2, 2}, DarrayRecord{3, 2, 0}}};
  add("darray", make_darray(6, whole(5, 4), cyclic));
  cyclic = {3, 1, {DarrayRecord{2, 1, 0}, DarrayRecord{1, 3, 0}, DarrayRecord{2, 2, 4}}};
  add("fortran darray", make_darray(4, {3, {}, {3, 2, 9}}, cyclic));
  return all;
}

TEST(Decomposition, IsReadAsItWasMade) {
  for (const auto& [name, sample] : samples()) {
    auto record = sample.record();
    record.resize(record.size() + 7);  // a longer file
    const auto again = Decomposition::read(record);
    ASSERT_TRUE(again.ok()) << name << ": " << last_detail();
    expect_same(*again, sample);
  }
}

TEST(Decomposition, FindsGridsInBoxes) {
  const auto all = samples();
  EXPECT_EQ(all[3].second.kind(), Kind::grid);
  EXPECT_EQ(all[4].second.kind(), Kind::grid);
  EXPECT_LT(all[3].second.record().size(), all[4].second.record().size()) << "no list of starts";
  EXPECT_EQ(all[5].second.kind(), Kind::boxes);
  EXPECT_EQ(all[6].second.kind(), Kind::boxes);
}

TEST(Decomposition, OfAReplicatedArrayRankZeroIsStored) {
  const auto sample = make_replicated(4, whole(3, 2));
  ASSERT_TRUE(sample.ok());
  EXPECT_EQ(sample->elements_of(0), 6U);
  EXPECT_EQ(sample->elements_of(1), 0U);
  const auto scalar = make_replicated(4, {});
  ASSERT_TRUE(scalar.ok());
  EXPECT_EQ(scalar->elements_of(0), 1U);
  EXPECT_EQ(scalar->elements_of(3), 0U);
}

uint64_t elements_in_both(const Section& part, const Box& box) {
  uint64_t elements = 0;
  for (uint64_t i = 0; i < box.count[0]; ++i)
    for (uint64_t j = 0; j < box.count[1]; ++j)
      elements +=
          part.along[0].contains(box.offset[0] + i) && part.along[1].contains(box.offset[1] + j);
  return elements;
}

// Compares holders_of() with a search of all ranks.
TEST(Decomposition, HoldersOfABoxAreTheRanksThatMeetIt) {
  std::mt19937 random(31);
  for (const auto& [name, sample] : samples()) {
    if (sample.is_counted() || sample.dimensions() != 2 || is_empty(sample.whole())) continue;
    for (int round = 0; round < 200; ++round) {
      Box wanted{2, {}, {}};
      for (size_t k = 0; k < 2; ++k) {
        wanted.offset[k] = random() % 6;
        wanted.count[k] = random() % 7;
      }
      std::vector<uint32_t> expected;
      for (uint32_t rank = 0; rank < sample.ranks(); ++rank) {
        if (is_empty(wanted)) continue;
        const Section part = sample.section_of(rank);
        if (!intersects(part.along[0], section_of(wanted).along[0]) ||
            !intersects(part.along[1], section_of(wanted).along[1]))
          continue;
        // A box that has all of the section covers those before it.
        if (sample.owner() == Owner::highest_rank &&
            elements_in_both(part, wanted) == *volume(wanted))
          expected.clear();
        expected.push_back(rank);
      }
      ASSERT_EQ(sample.holders_of(section_of(wanted)), expected) << name << " " << shown(wanted);
    }
  }
}

TEST(Decomposition, WhereBoxesOverlapTheOwnersPartComesLast) {
  const std::vector<std::pair<uint32_t, Box>> boxes = {{0, {2, {0, 0}, {3, 4}}},
                                                       {1, {2, {2, 0}, {3, 4}}}};
  const Section all = section_of(whole(5, 4));
  const auto lowest = made(2, whole(5, 4), boxes, Owner::lowest_rank);
  const auto highest = made(2, whole(5, 4), boxes, Owner::highest_rank);
  ASSERT_TRUE(lowest.ok() && highest.ok());
  EXPECT_EQ(lowest->holders_of(all), (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(highest->holders_of(all), (std::vector<uint32_t>{0, 1}));
  // The other rank's elements are not read if this one covers all of them.
  const Section common = section_of({2, {2, 1}, {1, 2}});
  EXPECT_EQ(lowest->holders_of(common), (std::vector<uint32_t>{0}));
  EXPECT_EQ(highest->holders_of(common), (std::vector<uint32_t>{1}));
}

TEST(Decomposition, ADarrayIsStoredOnceForOneMeaning) {
  const Darray by_default{2, 1, {DarrayRecord{2, 1, 0}, DarrayRecord{1, 3, 0}}};
  const Darray spelt_out{2, 0, {DarrayRecord{2, 2, 3}, DarrayRecord{1, 2, 7}}};
  const auto a = make_darray(2, whole(5, 4), by_default);
  const auto b = make_darray(2, whole(5, 4), spelt_out);
  ASSERT_TRUE(a.ok() && b.ok()) << last_detail();
  EXPECT_EQ(a->hash(), b->hash());
  EXPECT_EQ(make_darray(3, whole(5, 4), by_default).code(), EINVAL);
  EXPECT_EQ(make_darray(2, {1, {}, {5}}, by_default).code(), EINVAL);
}

TEST(Decomposition, SaysWhichRanksDoNotTile) {
  auto boxes = windmill;
  boxes.pop_back();
  EXPECT_EQ(made(6, whole(5, 5), boxes).code(), EINVAL);
  EXPECT_STREQ(last_detail(), "decomposition: no rank has elements [2:3, 2:3]");
  boxes = windmill;
  boxes[2].second.offset[1] = 1;
  boxes[2].second.count[1] = 4;
  EXPECT_EQ(made(6, whole(5, 5), boxes).code(), EINVAL);
  EXPECT_NE(std::string(last_detail()).find("ranks 2 and 3 both have elements [3:5, 1:2]"),
            std::string::npos)
      << last_detail();
  EXPECT_TRUE(made(6, whole(5, 5), boxes, Owner::lowest_rank).ok()) << last_detail();
}

TEST(Decomposition, RefusesBadBoxes) {
  EXPECT_EQ(made(2, whole(4, 4), {{0, {2, {0, 0}, {4, 5}}}}).code(), EINVAL) << "beyond the array";
  EXPECT_EQ(made(2, whole(4, 4), {{0, {2, {UINT64_MAX, 0}, {2, 4}}}}).code(), EINVAL);
  EXPECT_EQ(made(2, whole(4, 4), {{2, {2, {0, 0}, {4, 4}}}}).code(), EINVAL) << "no such rank";
  EXPECT_EQ(made(3, whole(4, 4), {{1, {2, {0, 0}, {2, 4}}}, {0, {2, {2, 0}, {2, 4}}}}).code(),
            EINVAL);
  EXPECT_EQ(made(3, whole(4, 4), {{0, {2, {0, 0}, {4, 4}}}, {1, {2, {0, 0}, {0, 4}}}}).code(),
            EINVAL)
      << "an empty box";
  EXPECT_EQ(made(0, whole(4, 4), {}).code(), EINVAL);
  EXPECT_EQ(made(1, whole(uint64_t{1} << 40, uint64_t{1} << 40), {}).code(), EOVERFLOW);
  EXPECT_EQ(make_boxes(1, {}, Owner::nobody, {}).code(), EINVAL);
}

// Sets each byte of each record to some values, under a valid checksum. The record is refused, or
// describes a decomposition that tiles.
TEST(Decomposition, ForgedRecordsAreRefusedOrSound) {
  for (const auto& [name, sample] : samples()) {
    for (size_t at = sizeof(RecordHead); at < sample.record().size(); ++at) {
      for (const uint8_t value : {0, 1, 2, 3, 4, 5, 15, 16, 127, 128, 255}) {
        auto record = sample.record();
        record[at] = value;
        seal_record(record.data(), record.size(), magic_decomposition);
        const auto forged = Decomposition::read(record);
        if (!forged.ok()) {
          ASSERT_EQ(forged.code(), EUCLEAN) << name << " byte " << at;
          continue;
        }
        if (forged->is_counted() || forged->owner() != Owner::nobody) continue;
        if (forged->ranks() > 1000) continue;
        uint64_t elements = 0;
        for (uint32_t rank = 0; rank < forged->ranks(); ++rank)
          elements += forged->elements_of(rank);
        ASSERT_EQ(elements, volume(forged->whole())) << name << " byte " << at;
      }
    }
  }
}

TEST(Decomposition, ShorterRecordsAreRefused) {
  for (const auto& [name, sample] : samples()) {
    for (size_t size = sizeof(RecordHead); size < sample.record().size(); ++size) {
      auto record = sample.record();
      record.resize(size);
      seal_record(record.data(), record.size(), magic_decomposition);
      ASSERT_EQ(Decomposition::read(record).code(), EUCLEAN) << name << " " << size;
    }
    auto record = sample.record();
    record.resize(record.size() + 8);
    seal_record(record.data(), record.size(), magic_decomposition);
    ASSERT_EQ(Decomposition::read(record).code(), EUCLEAN) << name << ": longer";
  }
}

TEST(Decomposition, AHugeCountOfEntriesIsRefusedBeforeItIsUsed) {
  const auto sample = made(6, whole(5, 5), windmill);
  ASSERT_TRUE(sample.ok());
  for (const uint64_t entries : {UINT64_MAX, UINT64_MAX / 40 + 1, uint64_t{1} << 32, uint64_t{6}}) {
    auto record = sample->record();
    std::memcpy(record.data() + offsetof(DecompositionRecord, entries), &entries, sizeof entries);
    seal_record(record.data(), record.size(), magic_decomposition);
    EXPECT_EQ(Decomposition::read(record).code(), EUCLEAN) << entries;
  }
}

TEST(Decomposition, AHashNamesTheMeaning) {
  const auto a = made(2, whole(5, 4), {{0, {2, {0, 0}, {3, 4}}}, {1, {2, {3, 0}, {2, 4}}}});
  const auto b = made(2, whole(5, 4), {{0, {2, {0, 0}, {3, 4}}}, {1, {2, {3, 0}, {2, 4}}}});
  const auto c = made(2, whole(5, 4), {{0, {2, {0, 0}, {2, 4}}}, {1, {2, {2, 0}, {3, 4}}}});
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_EQ(a->hash(), b->hash());
  EXPECT_NE(a->hash(), c->hash());
}

}  // namespace
}  // namespace cairn::checkpoint
