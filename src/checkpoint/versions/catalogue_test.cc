#include "checkpoint/versions/catalogue.h"

#include <gtest/gtest.h>

namespace cairn::checkpoint {
namespace {

// Makes a version of two nodes with as many `copies` of its parts.
KnownVersion known_version(uint64_t sequence, uint32_t copies) {
  KnownVersion known;
  known.version.sequence = sequence;
  known.version.parts = 2;
  known.holders = {0, 1};
  known.partners = {copies > 0 ? 1U : no_node, copies > 1 ? 0U : no_node};
  return known;
}

std::vector<uint64_t> retired_after(Catalogue* catalogue, const KnownVersion& next) {
  catalogue->add(next);
  std::vector<uint64_t> sequences;
  for (const KnownVersion& known : catalogue->take_beyond(Retention{1}))
    sequences.push_back(known.version.sequence);
  return sequences;
}

TEST(Catalogue, WhatHasCopiesStaysUntilANewerVersionHasThem) {
  using Sequences = std::vector<uint64_t>;
  Catalogue catalogue;
  EXPECT_EQ(retired_after(&catalogue, known_version(1, 2)), Sequences());
  EXPECT_EQ(retired_after(&catalogue, known_version(2, 0)), Sequences());
  EXPECT_EQ(retired_after(&catalogue, known_version(3, 1)), Sequences{2}) << "1 part is there once";
  catalogue.note_partners(3, {1, 0});
  EXPECT_EQ(retired_after(&catalogue, known_version(4, 0)), Sequences{1});
  // An abandoned version does not count.
  KnownVersion anew = known_version(9, 0);
  anew.version.horizon = 8;
  EXPECT_EQ(retired_after(&catalogue, anew), (Sequences{4, 3}));
}

// The first version is the only one that has survived the loss of a node; the next one could not.
TEST(Catalogue, WhatRestsOnCopiesStaysUntilANewerVersionHasThem) {
  using Sequences = std::vector<uint64_t>;
  Catalogue catalogue;
  KnownVersion left = known_version(1, 1);
  left.holders = {no_node, 1};
  left.replaced = "part 0";
  EXPECT_EQ(retired_after(&catalogue, left), Sequences());
  EXPECT_EQ(retired_after(&catalogue, known_version(2, 0)), Sequences());
  catalogue.note_partners(2, {1, 0});
  EXPECT_EQ(retired_after(&catalogue, known_version(3, 0)), Sequences{1});
}

TEST(Catalogue, APartLiesInASlotOfItsOwnAndCopiesInOthers) {
  KnownVersion known = known_version(1, 2);
  EXPECT_EQ(known.any_slot(), 0U);
  known.copies = {{1, 7}};
  EXPECT_EQ(known.any_slot(), 7U);
  known.slot = 3;
  EXPECT_EQ(known.slot_of(0), 3U);
  EXPECT_EQ(known.slot_of(1), 7U);
  EXPECT_EQ(known.slot_of(2), 0U);
  EXPECT_EQ(known.slots(), (std::vector<uint32_t>{3, 7}));
  Catalogue catalogue;
  catalogue.add(known);
  catalogue.add_copy(1, {1, 9});  // it is there already
  catalogue.add_copy(1, {4, 9});
  EXPECT_EQ(catalogue.find(1)->slots(), (std::vector<uint32_t>{3, 7, 9}));
}

}  // namespace
}  // namespace cairn::checkpoint
