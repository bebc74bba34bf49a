#include "checkpoint/array/runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace cairn::checkpoint {
namespace {

std::vector<int64_t> elements_of_runs(Runs runs, uint64_t element) {
  std::vector<int64_t> elements;
  Runs::Run run;
  while (runs.next(&run))
    for (uint64_t at = 0; at < run.size; at += element)
      elements.push_back(run.offset + static_cast<int64_t>(at));
  return elements;
}

// Lists the elements one by one, as the definition has it.
std::vector<int64_t> slowly(const Strided& what) {
  std::vector<int64_t> elements;
  uint64_t total = 1;
  for (unsigned k = 0; k < what.dimensions; ++k) total *= what.count[k];
  for (uint64_t i = 0; i < total; ++i) {
    int64_t offset = what.first;
    uint64_t rest = i;
    for (unsigned k = what.dimensions; k-- != 0;) {
      offset += what.stride[k] * static_cast<int64_t>(rest % what.count[k]);
      rest /= what.count[k];
    }
    elements.push_back(offset);
  }
  return elements;
}

TEST(Runs, ReachEachElementInOrder) {
  std::mt19937 random(2);
  for (int round = 0; round < 5000; ++round) {
    Strided what;
    what.dimensions = random() % 5;
    what.first = static_cast<int64_t>(random() % 100) - 50;
    int64_t stride = 4;
    for (unsigned k = what.dimensions; k-- != 0;) {
      what.count[k] = random() % 4;
      if (what.count[k] == 0 && random() % 4 != 0) what.count[k] = 1;
      what.stride[k] = random() % 4 == 0 ? -stride : stride;
      if (random() % 2 != 0) what.stride[k] *= 2;
      stride *= static_cast<int64_t>(std::max<uint64_t>(what.count[k], 1));
      if (random() % 3 == 0) stride += 4;
    }
    ASSERT_EQ(elements_of_runs(Runs(what, 4), 4), slowly(what)) << round;
  }
}

TEST(Runs, ContiguousDimensionsAreOneRun) {
  Runs runs({3, {2, 3, 4}, {96, 32, 8}, 16}, 8);
  Runs::Run run;
  ASSERT_TRUE(runs.next(&run));
  EXPECT_EQ(run.offset, 16);
  EXPECT_EQ(run.size, 192U);
  EXPECT_FALSE(runs.next(&run));
}

TEST(Runs, AScalarIsOneElement) {
  Runs runs({}, 8);
  Runs::Run run;
  ASSERT_TRUE(runs.next(&run));
  EXPECT_EQ(run.size, 8U);
  EXPECT_FALSE(runs.next(&run));
}

// Returns the position of each element of the inner box, by counting those of the outer one.
TEST(Runs, OfABoxInABoxInAnyOrder) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    Box outer{3, {}, {}};
    Box inner{3, {}, {}};
    for (size_t k = 0; k < 3; ++k) {
      outer.offset[k] = random() % 3;
      outer.count[k] = 1 + random() % 4;
      inner.offset[k] = outer.offset[k] + random() % outer.count[k];
      inner.count[k] = random() % (outer.offset[k] + outer.count[k] - inner.offset[k] + 1);
    }
    Order order{0, 1, 2};
    std::shuffle(order.begin(), order.begin() + 3, random);
    ASSERT_TRUE(is_order(order, 3));
    std::vector<int64_t> expected;
    int64_t position = 0;
    Extents x{};
    const auto end = [&](size_t k) { return outer.offset[order[k]] + outer.count[order[k]]; };
    for (x[order[0]] = outer.offset[order[0]]; x[order[0]] < end(0); ++x[order[0]])
      for (x[order[1]] = outer.offset[order[1]]; x[order[1]] < end(1); ++x[order[1]])
        for (x[order[2]] = outer.offset[order[2]]; x[order[2]] < end(2); ++x[order[2]]) {
          if (contains(inner, {3, x, {1, 1, 1}})) expected.push_back(position);
          ++position;
        }
    ASSERT_EQ(elements_of_runs(runs_in(outer, inner, order), 1), expected) << round;
  }
}

TEST(Runs, AnOrderNamesEachDimensionOnce) {
  EXPECT_TRUE(is_order(plain_order(), 15));
  EXPECT_TRUE(is_order({}, 0));
  EXPECT_FALSE(is_order({0, 0}, 2));
  EXPECT_FALSE(is_order({0, 2}, 2));
}

}  // namespace
}  // namespace cairn::checkpoint
