#include "checkpoint/array/section.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace cairn::checkpoint {
namespace {

// Returns the elements of a dimension with their places, by looking at each.
std::map<uint64_t, int64_t> listed(const Stripes& stripes) {
  std::map<uint64_t, int64_t> all;
  if (stripes.step == 0) {
    for (uint64_t i = stripes.begin; i < stripes.end; ++i)
      all[i] = static_cast<int64_t>(i) - stripes.first;
    return all;
  }
  int64_t place = 0;
  for (int64_t i = stripes.first; i < static_cast<int64_t>(stripes.end); ++i) {
    if (static_cast<uint64_t>(i - stripes.first) % stripes.step >= stripes.block) continue;
    if (i >= static_cast<int64_t>(stripes.begin)) all[static_cast<uint64_t>(i)] = place;
    ++place;
  }
  return all;
}

Stripes draw_stripes(std::mt19937* random) {
  const auto below = [&](uint64_t most) { return (*random)() % most; };
  Stripes stripes;
  stripes.begin = below(6);
  stripes.end = stripes.begin + below(20);
  stripes.first = static_cast<int64_t>(below(8)) - 3;
  if (below(3) == 0) return stripes;
  stripes.block = 1 + below(4);
  stripes.step = stripes.block + below(9);
  return stripes;
}

TEST(Section, StripesHaveTheElementsThatAreCountedOut) {
  std::mt19937 random(41);
  for (int round = 0; round < 2000; ++round) {
    const Stripes stripes = draw_stripes(&random);
    const auto all = listed(stripes);
    ASSERT_EQ(stripes.count(), all.size());
    for (uint64_t i = 0; i < 40; ++i) ASSERT_EQ(stripes.contains(i), all.contains(i)) << i;
  }
}

TEST(Section, SegmentsAreWhatBothHave) {
  std::mt19937 random(42);
  for (int round = 0; round < 5000; ++round) {
    const Stripes stored = draw_stripes(&random);
    const Stripes wanted = round % 4 == 0 ? stored : draw_stripes(&random);
    std::map<uint64_t, std::pair<int64_t, int64_t>> expected;
    const auto in_wanted = listed(wanted);
    for (const auto& [element, place] : listed(stored))
      if (const auto found = in_wanted.find(element); found != in_wanted.end())
        expected[element] = {place, found->second};
    ASSERT_EQ(intersects(stored, wanted), !expected.empty());
    SharedIntervals intervals(stored, wanted);
    for (int turn = 0; turn < 2; ++turn) {
      // The places of both sections continue from interval to interval, even if an element is far
      // away.
      std::vector<std::pair<int64_t, int64_t>> places;
      SharedInterval interval;
      uint64_t before = 0;
      while (intervals.next(&interval)) {
        ASSERT_TRUE(places.empty() || interval.element > before);
        before = interval.element;
        ASSERT_EQ(expected.at(interval.element), std::pair(interval.stored, interval.wanted));
        for (uint64_t i = 0; i < interval.count; ++i)
          places.emplace_back(interval.stored + static_cast<int64_t>(i),
                              interval.wanted + static_cast<int64_t>(i));
      }
      ASSERT_EQ(places.size(), expected.size()) << round;
      size_t at = 0;
      for (const auto& [element, both] : expected) ASSERT_EQ(places[at++], both) << element;
      intervals.rewind();
    }
  }
}

TEST(Section, OfNumbersNearTheLimit) {
  constexpr uint64_t extent = uint64_t{1} << 62;
  const Stripes last = {0, extent, 3, 1, 4};
  EXPECT_EQ(last.count(), extent / 4);
  EXPECT_TRUE(last.contains(extent - 1));
  SharedIntervals intervals(last, {extent - 5, extent, static_cast<int64_t>(extent - 5), 0, 0});
  SharedInterval interval;
  ASSERT_TRUE(intervals.next(&interval));
  EXPECT_EQ(interval.element, extent - 5);
  EXPECT_EQ(interval.stored, static_cast<int64_t>(extent / 4 - 2));
  ASSERT_TRUE(intervals.next(&interval));
  EXPECT_EQ(interval.element, extent - 1);
  EXPECT_EQ(interval.wanted, 4);
  EXPECT_FALSE(intervals.next(&interval));
  // A few steps find that there is no common element, or where it is.
  EXPECT_FALSE(intersects(Stripes{0, extent, 0, 1, extent / 2 + 1},
                          Stripes{0, extent, 1, 1, extent / 2 + 1}));
}

// The place where an element is stored, and the place where it is wanted.
using Copies = std::map<uint64_t, int64_t>;

Copies copies(const Section& stored, const Section& wanted, const Order& order,
              const Places& strides) {
  Copies all;
  SharedRuns runs(stored, wanted, order, strides);
  SharedRuns::Run run;
  const int64_t step = strides[order[stored.dimensions - 1]];
  uint64_t next = 0;
  while (runs.next(&run)) {
    EXPECT_GE(run.from, next) << "in the order in which they are stored";
    next = run.from + run.count;
    for (uint64_t i = 0; i < run.count; ++i)
      EXPECT_TRUE(all.emplace(run.from + i, run.to + static_cast<int64_t>(i) * step).second);
  }
  return all;
}

Copies expected_copies(const Section& stored, const Section& wanted, const Order& order,
                       const Places& strides) {
  std::vector<std::pair<uint64_t, int64_t>> all{{0, 0}};
  uint64_t unit = 1;
  for (unsigned i = stored.dimensions; i-- != 0;) {
    const unsigned k = order[i];
    std::vector<std::pair<uint64_t, int64_t>> more;
    const auto in_wanted = listed(wanted.along[k]);
    for (const auto& [element, place] : listed(stored.along[k]))
      if (const auto found = in_wanted.find(element); found != in_wanted.end())
        for (const auto& [from, to] : all)
          more.emplace_back(from + static_cast<uint64_t>(place) * unit,
                            to + found->second * strides[k]);
    unit *= stored.along[k].count();
    all = more;
  }
  return {all.begin(), all.end()};
}

TEST(Section, SharedRunsAreTheElementsOfBoth) {
  std::mt19937 random(43);
  int boxes = 0;
  for (int round = 0; round < 3000; ++round) {
    Section stored;
    Section wanted;
    stored.dimensions = wanted.dimensions = 1 + random() % 3;
    Order order = plain_order();
    std::shuffle(order.begin(), order.begin() + stored.dimensions, random);
    Places strides{};
    for (unsigned k = 0; k < stored.dimensions; ++k) {
      stored.along[k] = draw_stripes(&random);
      // The stored section has all elements from its first place on.
      stored.along[k].begin = 0;
      stored.along[k].first = stored.along[k].step == 0 ? 0 : random() % 4;
      wanted.along[k] = random() % 3 == 0 ? stored.along[k] : draw_stripes(&random);
      strides[k] = static_cast<int64_t>(random() % 100) - 50;
    }
    const Copies expected = expected_copies(stored, wanted, order, strides);
    ASSERT_EQ(copies(stored, wanted, order, strides), expected) << round;
    const auto shared = shared_box(stored, wanted);
    if (!shared) continue;
    ASSERT_EQ(volume(shared->stored), expected.size());
    if (expected.empty()) continue;
    ++boxes;
    Runs from = runs_in(whole_of(stored.dimensions, stored.counts()), shared->stored, order);
    std::set<uint64_t> places;
    Runs::Run run;
    while (from.next(&run))
      for (uint64_t i = 0; i < run.size; ++i) places.insert(static_cast<uint64_t>(run.offset) + i);
    int64_t to = 0;
    for (unsigned k = 0; k < stored.dimensions; ++k) to += shared->wanted[k] * strides[k];
    ASSERT_EQ(expected.begin()->first, *places.begin());
    ASSERT_EQ(expected.begin()->second, to);
    for (const auto& [place, its] : expected) ASSERT_TRUE(places.contains(place));
  }
  EXPECT_GT(boxes, 100);
}

TEST(Section, BlocksAreItsElements) {
  std::mt19937 random(44);
  for (int round = 0; round < 500; ++round) {
    Section section;
    section.dimensions = 2;
    std::set<std::pair<uint64_t, uint64_t>> expected;
    for (unsigned k = 0; k < 2; ++k) section.along[k] = draw_stripes(&random);
    for (const auto& [row, row_place] : listed(section.along[0]))
      for (const auto& [column, place] : listed(section.along[1])) expected.insert({row, column});
    const auto boxes = boxes_of(section, 1000);
    ASSERT_TRUE(boxes.ok()) << last_detail();
    uint64_t elements = 0;
    for (const Box& box : *boxes) {
      elements += *volume(box);
      for (uint64_t i = 0; i < box.count[0]; ++i)
        for (uint64_t j = 0; j < box.count[1]; ++j)
          ASSERT_TRUE(expected.contains({box.offset[0] + i, box.offset[1] + j}));
    }
    ASSERT_EQ(elements, expected.size());
    if (boxes->size() > 1) {
      ASSERT_EQ(boxes_of(section, boxes->size() - 1).code(), EOVERFLOW);
    }
    const Box around{2, {3, 3}, {6, 6}};
    const bool inside = std::all_of(expected.begin(), expected.end(), [](const auto& one) {
      return one.first >= 3 && one.first < 9 && one.second >= 3 && one.second < 9;
    });
    if (has_all(around, section)) {
      ASSERT_TRUE(inside);
    }
  }
}

TEST(Section, ABoxIsOne) {
  const Box box{2, {3, 0}, {4, 5}};
  const Section section = section_of(box, {2, 0});
  EXPECT_EQ(section.counts(), (Extents{4, 5}));
  EXPECT_EQ(section.along[0].first, 2);
  EXPECT_FALSE(is_empty(section));
  EXPECT_TRUE(is_empty(section_of({2, {3, 0}, {4, 0}})));
  EXPECT_FALSE(is_empty(Section())) << "a scalar has an element";
  EXPECT_TRUE(intersects(box, section));
  EXPECT_FALSE(intersects(box, section_of({2, {7, 0}, {1, 5}})));
  const auto scalar = shared_box(Section(), Section());
  ASSERT_TRUE(scalar);
  EXPECT_EQ(volume(scalar->stored), 1U);
}

}  // namespace
}  // namespace cairn::checkpoint
