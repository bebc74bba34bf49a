#include "checkpoint/restart/cyclic.h"

#include <gtest/gtest.h>

#include <map>

namespace cairn::checkpoint {
namespace {

// Checks that each element of `wanted` comes once, from the right stored element, and to its place.
void check(const Box& wanted, const Extents& stored, const Extents& first) {
  std::map<std::pair<int64_t, int64_t>, std::pair<uint64_t, uint64_t>> seen;
  const Status status = for_each_tile(section_of(wanted, first), stored, [&](const Section& part) {
    EXPECT_LE(part.along[0].end, stored[0]);
    EXPECT_LE(part.along[1].end, stored[1]);
    for (uint64_t i = part.along[0].begin; i < part.along[0].end; ++i)
      for (uint64_t j = part.along[1].begin; j < part.along[1].end; ++j) {
        const std::pair place = {static_cast<int64_t>(i) - part.along[0].first,
                                 static_cast<int64_t>(j) - part.along[1].first};
        EXPECT_TRUE(seen.emplace(place, std::pair(i, j)).second);
      }
    return Status();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(seen.size(), wanted.count[0] * wanted.count[1]);
  for (uint64_t i = wanted.offset[0]; i < wanted.offset[0] + wanted.count[0]; ++i)
    for (uint64_t j = wanted.offset[1]; j < wanted.offset[1] + wanted.count[1]; ++j) {
      const std::pair place = {static_cast<int64_t>(i) - static_cast<int64_t>(first[0]),
                               static_cast<int64_t>(j) - static_cast<int64_t>(first[1])};
      EXPECT_EQ(seen.at(place), std::pair(i % stored[0], j % stored[1]));
    }
}

TEST(Cyclic, TilesMakeUpAnyBox) {
  check({2, {0, 0}, {4, 6}}, {4, 6}, {0, 0});    // alike
  check({2, {1, 2}, {3, 3}}, {4, 6}, {1, 2});    // a part of it
  check({2, {0, 0}, {9, 13}}, {4, 6}, {0, 0});   // larger
  check({2, {7, 11}, {6, 2}}, {4, 6}, {8, 11});  // with halo before it
  check({2, {5, 3}, {3, 8}}, {1, 1}, {5, 3});
  check({2, {0, 6}, {1, 6}}, {4, 6}, {0, 6});
}

TEST(Cyclic, ScalarsAndNothing) {
  int visits = 0;
  const auto count = [&](const Section&) {
    ++visits;
    return Status();
  };
  EXPECT_TRUE(for_each_tile({}, {}, count).ok());
  EXPECT_EQ(visits, 1);
  EXPECT_TRUE(for_each_tile(section_of({1, {3}, {0}}), {2}, count).ok());
  EXPECT_TRUE(for_each_tile(section_of({1, {3}, {2}}), {0}, count).ok());
  EXPECT_EQ(visits, 1);
  EXPECT_EQ(
      for_each_tile(section_of({1, {0}, {9}}), {2}, [&](const Section&) { return Status(EIO); })
          .code(),
      EIO);
}

}  // namespace
}  // namespace cairn::checkpoint
