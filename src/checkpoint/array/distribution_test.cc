#include "checkpoint/array/distribution.h"

#include <gtest/gtest.h>

#include <set>

namespace cairn::checkpoint {
namespace {

const DecompositionKind stored_kinds[] = {
#define CAIRN_STORED_KIND(name, number, NAME) DecompositionKind::name,
#include "cairn/kinds.def"
};

ArrayView vector_of(int64_t extent) {
  ArrayShape shape;
  shape.type = Type::float64;
  shape.dimensions = 1;
  shape.extent = {extent};
  const auto view = ArrayView::make(shape);
  EXPECT_TRUE(view.ok()) << last_detail();
  return *view;
}

TEST(Distribution, EachKindHasOne) {
  for (const DecompositionKind kind : stored_kinds)
    EXPECT_NE(find_distribution(static_cast<uint8_t>(kind)), nullptr) << shown_kind(kind);
  EXPECT_EQ(find_distribution(0), nullptr);
  EXPECT_EQ(find_distribution(255), nullptr);
}

TEST(Distribution, AKindIsStoredAsWhatItIsGivenAs) {
  for (const DecompositionKind kind : stored_kinds) {
    const auto number = static_cast<uint32_t>(given_kind(kind));
    const auto stored = kind_given_as(number);
    ASSERT_TRUE(stored.ok()) << last_detail();
    EXPECT_EQ(given_kind(*stored), given_kind(kind)) << shown_kind(kind);
    EXPECT_EQ(counting_of(*stored), counting_of(kind)) << shown_kind(kind);
  }
  EXPECT_EQ(kind_given_as(3).code(), EINVAL) << "boxes are given as blocks";
  EXPECT_STREQ(last_detail(), "distribution of unknown kind 3");
  EXPECT_EQ(shown_kind(DecompositionKind::per_rank), "per rank");
}

TEST(Distribution, OnlyBlocksHaveAnOwnerRule) {
  GivenDistribution given;
  given.owner = static_cast<uint32_t>(Owner::lowest_rank);
  const ArrayView view = vector_of(4);
  std::set<std::string> having;
  for (const DecompositionKind kind : stored_kinds) {
    DistributedArray array;
    array.kind = kind;
    if (distribution_of(kind).take(given, view, &array).ok()) having.insert(shown_kind(kind));
  }
  EXPECT_EQ(having, std::set<std::string>{"block"});
}

TEST(Distribution, ArgumentsOfAnotherLengthAreUnsound) {
  for (const DecompositionKind kind : stored_kinds)
    EXPECT_FALSE(distribution_of(kind).is_sound(std::vector<uint8_t>(3))) << shown_kind(kind);
}

TEST(Distribution, CountedArraysHaveNoPartOfALayout) {
  for (const DecompositionKind kind : stored_kinds) {
    if (!is_counted(kind)) continue;
    DistributedArray array;
    array.kind = kind;
    EXPECT_TRUE(distribution_of(kind).check(vector_of(4), &array).ok()) << last_detail();
    EXPECT_EQ(array.whole, Box());
    EXPECT_FALSE(distribution_of(kind).stores(0)) << shown_kind(kind);
  }
}

}  // namespace
}  // namespace cairn::checkpoint
