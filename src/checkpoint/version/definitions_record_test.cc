#include "checkpoint/version/definitions_record.h"

#include <gtest/gtest.h>

#include <string>

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

using OfRank = std::vector<std::pair<std::string, Definition>>;

Result<Contents> join(std::vector<OfRank> ranks) {
  std::vector<std::vector<uint8_t>> records;
  for (OfRank& of_rank : ranks) {
    Definitions definitions;
    for (auto& [name, definition] : of_rank) definitions.put(name, std::move(definition));
    records.push_back(encode_definitions(definitions, {static_cast<uint32_t>(ranks.size()), 20}));
  }
  return join_definitions(records);
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

TEST(DefinitionsRecord, WhatDoesNotFitNamesVariableAndRanks) {
  const std::string gap = error_of({{{"t", rows(0, 3)}}, {{"t", rows(4, 4)}}});
  EXPECT_NE(gap.find("'t'"), std::string::npos) << gap;
  const std::string overlap = error_of({{{"t", rows(0, 5)}}, {{"t", rows(4, 4)}}});
  EXPECT_NE(overlap.find("'t'"), std::string::npos) << overlap;
  EXPECT_EQ(
      error_of({{{"t", rows(0, 5, Owner::lowest_rank)}}, {{"t", rows(4, 4, Owner::lowest_rank)}}}),
      "");
  EXPECT_EQ(error_of({{{"a", scalar()}}, {{"a", scalar(Type::int64)}}}),
            "variable 'a' is defined differently on ranks 0 and 1");
  EXPECT_EQ(error_of({{{"a", scalar()}, {"c", scalar()}}, {{"b", scalar()}, {"c", scalar()}}}),
            "variable 'a' is defined on only one of the ranks 0 and 1");
  EXPECT_EQ(error_of({{{"a", scalar()}}, {}}), "rank 0 defines 1 variables, rank 1 0");
}

TEST(DefinitionsRecord, ARecordThatIsCutIsNoDefinition) {
  Definitions definitions;
  definitions.put("t", rows(0, 8));
  const auto whole = encode_definitions(definitions, {1, 20});
  EXPECT_TRUE(join_definitions({whole}).ok()) << last_detail();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(join_definitions({{whole.begin(), whole.begin() + static_cast<long>(size)}}).ok())
        << size;
}

}  // namespace
}  // namespace cairn::checkpoint
