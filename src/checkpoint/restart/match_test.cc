#include "checkpoint/restart/match.h"

#include <gtest/gtest.h>

#include "checkpoint/define/definitions_record.h"

namespace cairn::checkpoint {
namespace {

Definition vector_of(Type type, uint64_t extent) {
  ArrayShape shape;
  shape.type = type;
  shape.dimensions = 1;
  shape.extent = {static_cast<int64_t>(extent)};
  Definition definition;
  auto view = ArrayView::make(shape);
  EXPECT_TRUE(view.ok()) << last_detail();
  definition.place.view = *view;
  definition.whole = whole_of(1, {extent});
  EXPECT_TRUE(check_definition("vector", &definition).ok()) << last_detail();
  return definition;
}

class Match : public testing::Test {
 protected:
  Match() {
    Definitions stored;
    stored.put("a", vector_of(Type::float64, 5));
    stored.put("old", vector_of(Type::int32, 3));
    auto of_node = join_ranks({encode_definitions(stored, {1, 20})}, {0});
    EXPECT_TRUE(of_node.ok()) << last_detail();
    auto contents = join_nodes({std::move(*of_node)});
    EXPECT_TRUE(contents.ok()) << last_detail();
    contents_ = std::move(*contents);
  }
  Contents contents_;
  Definitions wanted_;
};

TEST_F(Match, NamesAliasesAndWhatMayBeMissing) {
  wanted_.put("a", vector_of(Type::float64, 5));
  Definition renamed = vector_of(Type::int32, 3);
  renamed.aliases = {"older", "old"};
  wanted_.put("new", renamed);
  Definition optional = vector_of(Type::int8, 1);
  optional.is_required = false;
  wanted_.put("optional", optional);
  const auto matches = match(wanted_, contents_);
  ASSERT_TRUE(matches.ok()) << last_detail();
  ASSERT_EQ(matches->found.size(), 2U);
  EXPECT_EQ(*matches->found[1].name, "new");
  EXPECT_EQ(contents_.layout().variable(matches->found[1].stored).name, "old");
  ASSERT_EQ(matches->missing.size(), 1U);
  EXPECT_EQ(*matches->missing[0].name, "optional");
}

TEST_F(Match, AllErrorsAreToldTogether) {
  wanted_.put("a", vector_of(Type::float32, 5));
  wanted_.put("old", vector_of(Type::int32, 4));
  EXPECT_EQ(match(wanted_, contents_).code(), EINVAL);
  EXPECT_STREQ(last_detail(), "'a' is float64, not float32; 'old' is [0:3], not [0:4]");
  wanted_.put("x", vector_of(Type::int32, 4));
  wanted_.put("y", vector_of(Type::int32, 4));
  EXPECT_EQ(match(wanted_, contents_).code(), ENODATA);
  EXPECT_STREQ(last_detail(),
               "missing: 'x', 'y'; different: 'a' is float64, not float32; 'old' is [0:3], not "
               "[0:4]");
}

TEST_F(Match, ALargerArrayIsOneIfItMayBe) {
  wanted_.put("a", vector_of(Type::float64, 7));
  EXPECT_EQ(match(wanted_, contents_).code(), EINVAL);
  EXPECT_TRUE(match(wanted_, contents_, true).ok()) << last_detail();
  wanted_.put("a", vector_of(Type::float64, 4));
  EXPECT_EQ(match(wanted_, contents_, true).code(), EINVAL);
}

}  // namespace
}  // namespace cairn::checkpoint
