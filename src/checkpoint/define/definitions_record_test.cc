#include "checkpoint/define/definitions_record.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "checkpoint/array/darray.h"

namespace cairn::checkpoint {
namespace {

// Rows [first, first + count) of 8 x 5 values.
Definition rows(uint64_t first, int64_t count, Owner owner = Owner::nobody) {
  ArrayShape shape;
  shape.type = Type::float64;
  shape.dimensions = 2;
  shape.extent = {count, 5};
  Definition definition;
  auto view = ArrayView::make(shape);
  EXPECT_TRUE(view.ok()) << last_detail();
  definition.place.view = *view;
  definition.kind = DecompositionKind::boxes;
  definition.owner = owner;
  definition.whole = whole_of(2, {8, 5});
  definition.box.dimensions = 2;
  definition.box.offset = {first, 0};
  EXPECT_TRUE(check_definition("rows", &definition).ok()) << last_detail();
  return definition;
}

Definition scalar(Type type = Type::int32) {
  ArrayShape shape;
  shape.type = type;
  Definition definition;
  auto view = ArrayView::make(shape);
  EXPECT_TRUE(view.ok()) << last_detail();
  definition.place.view = *view;
  definition.whole = whole_of(0, {});
  EXPECT_TRUE(check_definition("scalar", &definition).ok()) << last_detail();
  return definition;
}

// A rank's part of 8 x 5 values, in blocks on a grid of 2 processes by 1.
Definition dealt(int64_t count, uint64_t block, uint32_t processes = 2) {
  ArrayShape shape;
  shape.type = Type::float64;
  shape.dimensions = 2;
  shape.extent = {count, 5};
  Definition definition;
  auto view = ArrayView::make(shape);
  EXPECT_TRUE(view.ok()) << last_detail();
  definition.place.view = *view;
  definition.kind = DecompositionKind::darray;
  definition.whole = whole_of(2, {8, 5});
  definition.arguments =
      encode_arguments({2, 0, {DarrayRecord{processes, 2, block}, DarrayRecord{1, 3, 0}}});
  EXPECT_TRUE(check_definition("dealt", &definition).ok()) << last_detail();
  return definition;
}

using OfRank = std::vector<std::pair<std::string, Definition>>;

using Records = std::vector<std::vector<uint8_t>>;

Records encode(std::vector<OfRank> ranks) {
  Records records;
  for (OfRank& of_rank : ranks) {
    Definitions definitions;
    for (auto& [name, definition] : of_rank) definitions.put(name, std::move(definition));
    records.push_back(encode_definitions(definitions, {static_cast<uint32_t>(ranks.size()), 20}));
  }
  return records;
}

// `nodes`: the ranks of each.
Result<Contents> join(const Records& records, const std::vector<std::vector<uint32_t>>& nodes) {
  Records of_nodes;
  for (const auto& ranks : nodes) {
    Records of_node;
    for (const uint32_t rank : ranks) of_node.push_back(records[rank]);
    CAIRN_TRY_ASSIGN(joined, join_ranks(of_node, ranks));
    of_nodes.push_back(std::move(joined));
  }
  return join_nodes(of_nodes);
}

Result<Contents> join_on_one_node(const Records& records) {
  std::vector<uint32_t> all(records.size());
  std::iota(all.begin(), all.end(), 0U);
  return join(records, {all});
}

Result<Contents> join(std::vector<OfRank> ranks) {
  return join_on_one_node(encode(std::move(ranks)));
}

std::string error_of(std::vector<OfRank> ranks) {
  const auto contents = join(std::move(ranks));
  return contents.ok() ? "" : last_detail();
}

TEST(DefinitionsRecord, RanksBecomeOneLayout) {
  const auto contents = join({{{"t", rows(0, 3)}, {"u", rows(0, 3)}, {"step", scalar()}},
                              {{"t", rows(3, 0)}, {"u", rows(3, 0)}, {"step", scalar()}},
                              {{"t", rows(3, 5)}, {"u", rows(3, 5)}, {"step", scalar()}}});
  ASSERT_TRUE(contents.ok()) << last_detail();
  const Layout& layout = contents->layout();
  EXPECT_EQ(layout.ranks(), 3U);
  ASSERT_EQ(layout.variables(), 3U);
  EXPECT_EQ(layout.decompositions(), 2U) << "equal distributions are stored once";
  const auto t = layout.find("t");
  ASSERT_TRUE(t.has_value());
  const Decomposition& boxes = contents->decomposition_of(layout.variable(*t));
  EXPECT_EQ(boxes.elements_of(0), 15U);
  EXPECT_EQ(boxes.elements_of(1), 0U);
  EXPECT_EQ(boxes.elements_of(2), 25U);
}

TEST(DefinitionsRecord, ADarrayIsAgreedByAllNodes) {
  const Records records = encode({{{"a", dealt(5, 3)}}, {{"a", dealt(3, 3)}}});
  for (const auto& nodes : {std::vector<std::vector<uint32_t>>{{0, 1}}, {{0}, {1}}}) {
    const auto contents = join(records, nodes);
    ASSERT_TRUE(contents.ok()) << last_detail();
    const Decomposition& made = contents->decomposition(0);
    EXPECT_EQ(made.kind(), DecompositionKind::darray);
    EXPECT_EQ(made.elements_of(0), 25U);
    EXPECT_EQ(made.elements_of(1), 15U);
  }
}

TEST(DefinitionsRecord, ADarrayThatRanksDoNotHoldIsRefused) {
  EXPECT_EQ(error_of({{{"a", dealt(5, 3)}}, {{"a", dealt(4, 3)}}}),
            "variable 'a': rank 1 has an array of 4 x 5 elements; it is dealt 3 x 5");
  EXPECT_EQ(error_of({{{"a", dealt(4, 3)}}, {{"a", dealt(4, 3)}}}),
            "variable 'a': rank 0 has an array of 4 x 5 elements; it is dealt 5 x 5, and rank 1 "
            "has another size, too");
  EXPECT_EQ(error_of({{{"a", dealt(3, 3, 3)}}, {{"a", dealt(3, 3, 3)}}}),
            "variable 'a': a process grid of 3 x 1 for 2 ranks");
  EXPECT_EQ(error_of({{{"a", dealt(4, 2)}}, {{"a", dealt(4, 1)}}}),
            "variable 'a' is defined differently on ranks 0 and 1: blocks cyclic(2), whole and "
            "cyclic(1), whole");
  EXPECT_EQ(error_of({{{"a", dealt(4, 2)}}, {{"a", dealt(4, 2, 4)}}}),
            "variable 'a' is defined differently on ranks 0 and 1: process grid 2 x 1 and 4 x 1");
  EXPECT_EQ(error_of({{{"a", dealt(4, 2)}}, {{"a", rows(4, 4)}}}),
            "variable 'a' is defined differently on ranks 0 and 1: kind darray and block");
}

TEST(DefinitionsRecord, WhatDoesNotFitNamesVariableAndRanks) {
  const std::string gap = error_of({{{"t", rows(0, 3)}}, {{"t", rows(4, 4)}}});
  EXPECT_NE(gap.find("'t'"), std::string::npos) << gap;
  const std::string overlap = error_of({{{"t", rows(0, 5)}}, {{"t", rows(4, 4)}}});
  EXPECT_NE(overlap.find("'t'"), std::string::npos) << overlap;
  EXPECT_EQ(
      error_of({{{"t", rows(0, 5, Owner::lowest_rank)}}, {{"t", rows(4, 4, Owner::lowest_rank)}}}),
      "");
  EXPECT_EQ(error_of({{{"a", scalar()}}, {{"a", scalar(Type::int64)}}}),
            "variable 'a' is defined differently on ranks 0 and 1: type int32 and int64");
  EXPECT_EQ(error_of({{{"a", scalar()}, {"c", scalar()}}, {{"b", scalar()}, {"c", scalar()}}}),
            "variable 'a' is defined on only one of the ranks 0 and 1");
  EXPECT_EQ(error_of({{{"a", scalar()}}, {}}),
            "variable 'a' is defined on rank 0 and not on rank 1");
  EXPECT_EQ(error_of({{{"b", scalar()}}, {{"a", scalar()}, {"b", scalar()}}}),
            "variable 'a' is defined on rank 1 and not on rank 0");
  EXPECT_EQ(error_of({{{"a", scalar()}}, {{"a", scalar()}, {"b", scalar()}}}),
            "variable 'b' is defined on rank 1 and not on rank 0");
  EXPECT_EQ(error_of({{{"t", rows(0, 3)}}, {{"t", scalar()}}}),
            "variable 't' is defined differently on ranks 0 and 1: kind block and replicated");
}

TEST(DefinitionsRecord, ARecordThatIsCutIsNoDefinition) {
  Definitions definitions;
  definitions.put("t", rows(0, 8));
  const auto whole = encode_definitions(definitions, {1, 20});
  EXPECT_TRUE(join_on_one_node({whole}).ok()) << last_detail();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(join_on_one_node({{whole.begin(), whole.begin() + static_cast<long>(size)}}).ok())
        << size;
  const auto of_node = join_ranks({whole}, {0});
  ASSERT_TRUE(of_node.ok()) << last_detail();
  EXPECT_TRUE(join_nodes({*of_node}).ok()) << last_detail();
  for (size_t size = 0; size < of_node->size(); ++size)
    EXPECT_FALSE(join_nodes({{of_node->begin(), of_node->begin() + static_cast<long>(size)}}).ok())
        << size;
}

// Ranks define the same on whatever node they are.
TEST(DefinitionsRecord, NodesBecomeOneLayout) {
  const auto records = encode({{{"t", rows(0, 2)}, {"u", rows(0, 4)}, {"v", rows(0, 2)}},
                               {{"t", rows(2, 2)}, {"u", rows(4, 0)}, {"v", rows(2, 2)}},
                               {{"t", rows(4, 2)}, {"u", rows(4, 2)}, {"v", rows(4, 2)}},
                               {{"t", rows(6, 2)}, {"u", rows(6, 2)}, {"v", rows(6, 2)}}});
  const auto whole = join_on_one_node(records);
  ASSERT_TRUE(whole.ok()) << last_detail();
  EXPECT_EQ(whole->layout().decompositions(), 2U);
  for (const auto& nodes : std::vector<std::vector<std::vector<uint32_t>>>{
           {{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}, {{0, 3}, {1}, {2}}, {{0}, {1}, {2}, {3}}}) {
    const auto parts = join(records, nodes);
    ASSERT_TRUE(parts.ok()) << last_detail();
    EXPECT_EQ(parts->layout().hash(), whole->layout().hash());
  }
  EXPECT_FALSE(join(records, {{0, 1}, {2}}).ok()) << "a rank is missing";
}

TEST(DefinitionsRecord, WhatDiffersBetweenNodesNamesVariableAndRanks) {
  const auto error = [](std::vector<OfRank> ranks) {
    const auto contents = join(encode(std::move(ranks)), {{0, 2}, {1, 3}});
    return std::string(contents.ok() ? "" : last_detail());
  };
  const OfRank a = {{"a", scalar()}};
  const OfRank wide = {{"a", scalar(Type::int64)}};
  const OfRank b = {{"b", scalar()}};
  EXPECT_EQ(error({a, wide, a, wide}),
            "variable 'a' is defined differently on ranks 0 and 1: type int32 and int64");
  EXPECT_EQ(error({a, b, a, b}), "variable 'a' is defined on only one of the ranks 0 and 1");
  EXPECT_EQ(error({a, a, a, b}), "variable 'a' is defined on only one of the ranks 1 and 3");
  EXPECT_EQ(error({a, {}, a, {}}), "rank 0 defines 1 variables, rank 1 0");
  const std::string overlap =
      error({{{"t", rows(0, 4)}}, {{"t", rows(4, 3)}}, {{"t", rows(7, 1)}}, {{"t", rows(6, 2)}}});
  EXPECT_NE(overlap.find("variable 't': decomposition: ranks 1 and 3 both have"), std::string::npos)
      << overlap;
}

// 280 variables share one decomposition: a node sends their names once, and a box for each rank.
TEST(DefinitionsRecord, ANodeTellsEachBoxOnce) {
  const auto size_of = [](uint32_t ranks, int variables) {
    Records records;
    std::vector<uint32_t> numbers;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      Definitions definitions;
      for (int i = 0; i < variables; ++i)
        definitions.put("v" + std::to_string(1000 + i), rows(rank, 1));
      records.push_back(encode_definitions(definitions, {ranks, 20}));
      numbers.push_back(rank);
    }
    const auto joined = join_ranks(records, numbers);
    EXPECT_TRUE(joined.ok()) << last_detail();
    return joined->size();
  };
  const size_t box = size_of(2, 1) - size_of(1, 1);
  EXPECT_EQ(box, 40U);
  EXPECT_EQ(size_of(8, 1), size_of(1, 1) + 7 * box);
  EXPECT_EQ(size_of(8, 280) - size_of(1, 280), 7 * box);
}

}  // namespace
}  // namespace cairn::checkpoint
