#include "checkpoint/versions/merged_inventory.h"

#include <gtest/gtest.h>

#include "checkpoint/record/head.h"
#include "checkpoint/store/manifest.h"

namespace cairn::checkpoint {
namespace {

InventoryPart part_of(uint64_t sequence, uint32_t part, uint32_t parts, bool is_committed = true) {
  InventoryPart made;
  made.version.sequence = sequence;
  made.version.number = static_cast<int64_t>(10 * sequence);
  made.version.part = part;
  made.version.parts = parts;
  made.version.begun = 100 * sequence + part;
  made.slot = static_cast<uint32_t>(sequence);
  made.is_committed = is_committed;
  made.parts_crc = 9;
  return made;
}

// Seals the VERSION as a pool stores it.
InventoryPart sealed(InventoryPart part) {
  part.version.ranks = part.version.parts;
  part.version.part_ranks = 1;
  EXPECT_TRUE(seal_version(&part.version).ok()) << last_detail();
  return part;
}

// Returns the inventories of three nodes with these `parts`, by node.
std::vector<NodeInventory> nodes_with(const std::vector<std::vector<InventoryPart>>& parts) {
  std::vector<NodeInventory> nodes;
  for (const auto& one : parts) {
    nodes.emplace_back();
    nodes.back().parts = one;
  }
  return nodes;
}

TEST(MergedInventory, PartsOfAllNodesMakeUpAVersion) {
  // Nodes are numbered anew in each run.
  const auto nodes = nodes_with({{part_of(5, 2, 3), part_of(6, 2, 3)},
                                 {part_of(5, 0, 3)},
                                 {part_of(6, 0, 3), part_of(5, 1, 3)},
                                 {part_of(4, 0, 1)}});
  for (uint32_t own = 0; own < 4; ++own) {
    const auto versions = join_versions(nodes, own);
    ASSERT_EQ(versions.size(), 3U);
    EXPECT_EQ(versions[0].missing, "");
    EXPECT_EQ(versions[0].holders, (std::vector<uint32_t>{3}));
    EXPECT_EQ(versions[0].slot, own == 3 ? 4U : 0U);
    EXPECT_EQ(versions[1].missing, "");
    EXPECT_EQ(versions[1].holders, (std::vector<uint32_t>{1, 2, 0}));
    EXPECT_EQ(versions[1].slot, own == 3 ? 0U : 5U);
    EXPECT_EQ(versions[1].version.begun, 502U) << "the same on all nodes";
    EXPECT_NE(versions[2].missing, "");
  }
}

TEST(MergedInventory, NodesThatSayDifferentThingsHaveNoVersion) {
  InventoryPart other = part_of(5, 1, 2);
  other.version.number = 1;
  EXPECT_NE(join_versions(nodes_with({{part_of(5, 0, 2)}, {other}}), 0)[0].missing, "");
  other = part_of(5, 1, 2);
  other.parts_crc = 8;
  EXPECT_NE(join_versions(nodes_with({{part_of(5, 0, 2)}, {other}}), 0)[0].missing, "");
  EXPECT_NE(join_versions(nodes_with({{part_of(5, 0, 2)}, {part_of(5, 0, 2)}}), 0)[0].missing, "");
  EXPECT_NE(join_versions(nodes_with({{part_of(5, 0, 1)}, {part_of(5, 0, 1)}}), 0)[0].missing, "");
}

TEST(MergedInventory, APreparedPartIsDecidedByOthers) {
  const InventoryPart prepared = part_of(5, 0, 2, false);
  EXPECT_FALSE(find_committed(nodes_with({{prepared}, {}}), 0, prepared).has_value());
  EXPECT_FALSE(
      find_committed(nodes_with({{prepared}, {part_of(5, 1, 2, false)}}), 0, prepared).has_value());
  EXPECT_FALSE(
      find_committed(nodes_with({{prepared}, {part_of(4, 1, 2)}}), 0, prepared).has_value());
  EXPECT_EQ(find_committed(nodes_with({{prepared}, {}, {part_of(5, 1, 2)}}), 0, prepared), 2U);
  InventoryPart other = part_of(5, 1, 2);
  other.version.run[0] = 1;
  EXPECT_FALSE(find_committed(nodes_with({{prepared}, {other}}), 0, prepared).has_value());
}

TEST(MergedInventory, WhatANodeTellsIsReadAgain) {
  NodeInventory inventory;
  inventory.last_sequence = 77;
  inventory.parts = {sealed(part_of(5, 0, 2)), sealed(part_of(6, 0, 2, false))};
  inventory.parts[0].attempts = 3;
  inventory.parts[1].is_copy = true;
  inventory.damaged = {{"slot-0001.data: is missing", 4}};
  inventory.newer = "newer";
  const auto bytes = encode_inventory(inventory);
  const auto read = decode_inventory(bytes);
  ASSERT_TRUE(read.ok()) << last_detail();
  EXPECT_EQ(read->last_sequence, 77U);
  ASSERT_EQ(read->parts.size(), 2U);
  EXPECT_EQ(read->parts[0].attempts, 3U);
  EXPECT_TRUE(read->parts[0].is_committed);
  EXPECT_FALSE(read->parts[1].is_committed);
  EXPECT_FALSE(read->parts[0].is_copy);
  EXPECT_TRUE(read->parts[1].is_copy);
  ASSERT_EQ(read->damaged.size(), 1U);
  EXPECT_EQ(read->damaged[0].text, inventory.damaged[0].text);
  EXPECT_EQ(read->damaged[0].sequence, 4U);
  EXPECT_EQ(read->newer, "newer");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_inventory({bytes.begin(), bytes.begin() + static_cast<long>(size)}).ok());
  inventory.parts[0].slot = max_slots + 1;
  EXPECT_EQ(decode_inventory(encode_inventory(inventory)).code(), EPROTO);
}

// Makes a copy of a part, in a slot of its own.
InventoryPart copy_of(uint64_t sequence, uint32_t part, uint32_t parts) {
  InventoryPart copy = part_of(sequence, part, parts);
  copy.is_copy = true;
  copy.slot = 100 + part;
  return copy;
}

TEST(MergedInventory, ACopyStandsInForItsPart) {
  const auto all = nodes_with({{part_of(5, 0, 2), copy_of(5, 1, 2)}, {part_of(5, 1, 2)}});
  auto version = join_versions(all, 0)[0];
  EXPECT_FALSE(version.has_partners()) << "of part 0";
  EXPECT_EQ(version.slot_of(0), 5U);
  EXPECT_EQ(version.slot_of(1), 101U);
  EXPECT_EQ(join_versions(all, 1)[0].slot_of(0), 0U);
  // The part's own node is absent, or came back empty.
  for (const auto& nodes : {nodes_with({{copy_of(5, 1, 2), part_of(5, 0, 2)}}),
                            nodes_with({{}, {copy_of(5, 1, 2), part_of(5, 0, 2)}})}) {
    version = join_versions(nodes, static_cast<uint32_t>(nodes.size()) - 1)[0];
    EXPECT_EQ(version.missing, "");
    EXPECT_EQ(version.holders[1], no_node);
    EXPECT_EQ(version.partners[1], nodes.size() - 1);
    EXPECT_EQ(version.version.part, 0U) << "its own part's";
    EXPECT_EQ(version.slots(), (std::vector<uint32_t>{5, 101}));
  }
  EXPECT_NE(join_versions(nodes_with({{copy_of(5, 1, 2)}, {part_of(5, 1, 2)}}), 0)[0].missing, "");
  const auto twice =
      nodes_with({{part_of(5, 0, 2), copy_of(5, 1, 2)}, {part_of(5, 1, 2), copy_of(5, 0, 2)}});
  EXPECT_TRUE(join_versions(twice, 0)[0].has_partners());
}

TEST(MergedInventory, ACopyOfAnotherVersionDoesNotCount) {
  InventoryPart other = copy_of(5, 1, 2);
  other.version.number = 1;
  auto version = join_versions(nodes_with({{other, part_of(5, 0, 2)}, {part_of(5, 1, 2)}}), 0)[0];
  EXPECT_EQ(version.missing, "") << "the parts themselves are right";
  EXPECT_FALSE(version.has_copy(1));
  EXPECT_TRUE(version.copies.empty());
  version = join_versions(nodes_with({{other, part_of(5, 0, 2)}}), 0)[0];
  EXPECT_NE(version.missing, "");
}

TEST(MergedInventory, AVersionThatCannotBeIsNotBelieved) {
  NodeInventory inventory;
  inventory.parts = {sealed(part_of(5, 0, 2))};
  ASSERT_TRUE(decode_inventory(encode_inventory(inventory)).ok()) << last_detail();
  inventory.parts[0].version.parts = 0;
  EXPECT_EQ(decode_inventory(encode_inventory(inventory)).code(), EUCLEAN) << "another checksum";
  seal_record(&inventory.parts[0].version, sizeof inventory.parts[0].version, magic_version);
  EXPECT_EQ(decode_inventory(encode_inventory(inventory)).code(), EUCLEAN) << "no parts";
  inventory.parts[0].version.parts = UINT32_MAX;
  seal_record(&inventory.parts[0].version, sizeof inventory.parts[0].version, magic_version);
  EXPECT_EQ(decode_inventory(encode_inventory(inventory)).code(), EUCLEAN) << "too many parts";
}

}  // namespace
}  // namespace cairn::checkpoint
