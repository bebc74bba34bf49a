#include "checkpoint/stock/joint_stock.h"

#include <gtest/gtest.h>

#include "checkpoint/record/head.h"
#include "checkpoint/store/manifest.h"

namespace cairn::checkpoint {
namespace {

StockedPart part_of(uint64_t sequence, uint32_t part, uint32_t parts, bool is_committed = true) {
  StockedPart stocked;
  stocked.version.sequence = sequence;
  stocked.version.number = static_cast<int64_t>(10 * sequence);
  stocked.version.part = part;
  stocked.version.parts = parts;
  stocked.version.begun = 100 * sequence + part;
  stocked.slot = static_cast<uint32_t>(sequence);
  stocked.is_committed = is_committed;
  stocked.parts_crc = 9;
  return stocked;
}

// Seals the VERSION as a pool stores it.
StockedPart sealed(StockedPart stocked) {
  stocked.version.ranks = stocked.version.parts;
  stocked.version.part_ranks = 1;
  EXPECT_TRUE(seal_version(&stocked.version).ok()) << last_detail();
  return stocked;
}

// Returns the stocks of three nodes with these `parts`, by node.
std::vector<NodeStock> nodes_with(const std::vector<std::vector<StockedPart>>& parts) {
  std::vector<NodeStock> nodes;
  for (const auto& one : parts) {
    nodes.emplace_back();
    nodes.back().parts = one;
  }
  return nodes;
}

TEST(JointStock, PartsOfAllNodesMakeUpAVersion) {
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

TEST(JointStock, NodesThatSayDifferentThingsHaveNoVersion) {
  StockedPart other = part_of(5, 1, 2);
  other.version.number = 1;
  EXPECT_NE(join_versions(nodes_with({{part_of(5, 0, 2)}, {other}}), 0)[0].missing, "");
  other = part_of(5, 1, 2);
  other.parts_crc = 8;
  EXPECT_NE(join_versions(nodes_with({{part_of(5, 0, 2)}, {other}}), 0)[0].missing, "");
  EXPECT_NE(join_versions(nodes_with({{part_of(5, 0, 2)}, {part_of(5, 0, 2)}}), 0)[0].missing, "");
  EXPECT_NE(join_versions(nodes_with({{part_of(5, 0, 1)}, {part_of(5, 0, 1)}}), 0)[0].missing, "");
}

TEST(JointStock, APreparedPartIsSettledByOthers) {
  const StockedPart prepared = part_of(5, 0, 2, false);
  EXPECT_FALSE(find_committed(nodes_with({{prepared}, {}}), 0, prepared).has_value());
  EXPECT_FALSE(
      find_committed(nodes_with({{prepared}, {part_of(5, 1, 2, false)}}), 0, prepared).has_value());
  EXPECT_FALSE(
      find_committed(nodes_with({{prepared}, {part_of(4, 1, 2)}}), 0, prepared).has_value());
  EXPECT_EQ(find_committed(nodes_with({{prepared}, {}, {part_of(5, 1, 2)}}), 0, prepared), 2U);
  StockedPart other = part_of(5, 1, 2);
  other.version.run[0] = 1;
  EXPECT_FALSE(find_committed(nodes_with({{prepared}, {other}}), 0, prepared).has_value());
}

TEST(JointStock, WhatANodeTellsIsReadAgain) {
  NodeStock stock;
  stock.last_sequence = 77;
  stock.parts = {sealed(part_of(5, 0, 2)), sealed(part_of(6, 0, 2, false))};
  stock.parts[0].attempts = 3;
  stock.parts[1].is_copy = true;
  stock.damaged = {{"slot-0001.data: is missing", 4}};
  stock.newer = "newer";
  const auto bytes = encode_stock(stock);
  const auto read = decode_stock(bytes);
  ASSERT_TRUE(read.ok()) << last_detail();
  EXPECT_EQ(read->last_sequence, 77U);
  ASSERT_EQ(read->parts.size(), 2U);
  EXPECT_EQ(read->parts[0].attempts, 3U);
  EXPECT_TRUE(read->parts[0].is_committed);
  EXPECT_FALSE(read->parts[1].is_committed);
  EXPECT_FALSE(read->parts[0].is_copy);
  EXPECT_TRUE(read->parts[1].is_copy);
  ASSERT_EQ(read->damaged.size(), 1U);
  EXPECT_EQ(read->damaged[0].text, stock.damaged[0].text);
  EXPECT_EQ(read->damaged[0].sequence, 4U);
  EXPECT_EQ(read->newer, "newer");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_stock({bytes.begin(), bytes.begin() + static_cast<long>(size)}).ok());
  stock.parts[0].slot = max_slots + 1;
  EXPECT_EQ(decode_stock(encode_stock(stock)).code(), EPROTO);
}

// Makes a copy of a part, in a slot of its own.
StockedPart copy_of(uint64_t sequence, uint32_t part, uint32_t parts) {
  StockedPart copy = part_of(sequence, part, parts);
  copy.is_copy = true;
  copy.slot = 100 + part;
  return copy;
}

TEST(JointStock, ACopyStandsInForItsPart) {
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

TEST(JointStock, ACopyOfAnotherVersionDoesNotCount) {
  StockedPart other = copy_of(5, 1, 2);
  other.version.number = 1;
  auto version = join_versions(nodes_with({{other, part_of(5, 0, 2)}, {part_of(5, 1, 2)}}), 0)[0];
  EXPECT_EQ(version.missing, "") << "the parts themselves are right";
  EXPECT_FALSE(version.has_copy(1));
  EXPECT_TRUE(version.copies.empty());
  version = join_versions(nodes_with({{other, part_of(5, 0, 2)}}), 0)[0];
  EXPECT_NE(version.missing, "");
}

TEST(JointStock, AVersionThatCannotBeIsNotBelieved) {
  NodeStock stock;
  stock.parts = {sealed(part_of(5, 0, 2))};
  ASSERT_TRUE(decode_stock(encode_stock(stock)).ok()) << last_detail();
  stock.parts[0].version.parts = 0;
  EXPECT_EQ(decode_stock(encode_stock(stock)).code(), EUCLEAN) << "another checksum";
  seal_record(&stock.parts[0].version, sizeof stock.parts[0].version, magic_version);
  EXPECT_EQ(decode_stock(encode_stock(stock)).code(), EUCLEAN) << "no parts";
  stock.parts[0].version.parts = UINT32_MAX;
  seal_record(&stock.parts[0].version, sizeof stock.parts[0].version, magic_version);
  EXPECT_EQ(decode_stock(encode_stock(stock)).code(), EUCLEAN) << "too many parts";
}

}  // namespace
}  // namespace cairn::checkpoint
