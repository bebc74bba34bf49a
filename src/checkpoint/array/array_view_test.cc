#include "checkpoint/array/array_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace cairn::checkpoint {
namespace {

std::vector<int64_t> elements_of(Runs runs, uint64_t element) {
  std::vector<int64_t> elements;
  Runs::Run run;
  while (runs.next(&run))
    for (uint64_t at = 0; at < run.size; at += element)
      elements.push_back(run.offset + static_cast<int64_t>(at));
  return elements;
}

ArrayShape shape_with(std::initializer_list<int64_t> extents, bool is_fortran = false) {
  ArrayShape shape;
  shape.type = Type::float64;
  shape.dimensions = static_cast<uint32_t>(extents.size());
  std::copy(extents.begin(), extents.end(), shape.extent.begin());
  shape.is_fortran = is_fortran;
  return shape;
}

TEST(ArrayView, ContiguousArraysAreOneRun) {
  for (const bool is_fortran : {false, true}) {
    const auto view = ArrayView::make(shape_with({4, 1, 5}, is_fortran));
    ASSERT_TRUE(view.ok()) << last_detail();
    Runs runs = view->inner(view->order());
    EXPECT_EQ(runs.size(), 160U);
    EXPECT_EQ(view->order()[0], is_fortran ? 2 : 0);
  }
}

TEST(ArrayView, LeavesTheHaloOut) {
  ArrayShape shape = shape_with({5, 7});
  shape.halo_low = {1, 2};
  shape.halo_high = {1, 0};
  const auto view = ArrayView::make(shape);
  ASSERT_TRUE(view.ok()) << last_detail();
  EXPECT_EQ(view->counts()[0], 3U);
  EXPECT_EQ(view->counts()[1], 5U);
  Runs runs = view->inner(view->order());
  Runs::Run run;
  for (int64_t row = 1; row <= 3; ++row) {
    ASSERT_TRUE(runs.next(&run));
    EXPECT_EQ(run.offset, (row * 7 + 2) * 8);
    EXPECT_EQ(run.size, 40U);
  }
  EXPECT_FALSE(runs.next(&run));
}

// A program stores (k, j, i) and means (i, j, k).
TEST(ArrayView, TurnsDimensionsAsTheAxesSay) {
  ArrayShape shape = shape_with({2, 3, 4});
  shape.axis = {2, 1, 0};
  const auto view = ArrayView::make(shape);
  ASSERT_TRUE(view.ok()) << last_detail();
  EXPECT_EQ(view->counts()[0], 4U);
  EXPECT_EQ(view->counts()[2], 2U);
  EXPECT_EQ(view->order()[0], 2);
  EXPECT_EQ(view->order()[2], 0);
  EXPECT_EQ(view->inner(view->order()).size(), 192U) << "as it lies: one piece";
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t k = 0; k < 2; ++k) expected.push_back((k * 12 + j * 4 + i) * 8);
  EXPECT_EQ(elements_of(view->inner(plain_order()), 8), expected);
}

TEST(ArrayView, NegativeStridesRunBackwards) {
  ArrayShape shape = shape_with({3, 2});
  shape.stride = {-32, 8};
  const auto view = ArrayView::make(shape);
  ASSERT_TRUE(view.ok()) << last_detail();
  const std::vector<int64_t> expected = {0, 8, -32, -24, -64, -56};
  EXPECT_EQ(elements_of(view->inner(view->order()), 8), expected);
}

TEST(ArrayView, PartsMayReachIntoTheHalo) {
  ArrayShape shape = shape_with({6});
  shape.halo_low = {2};
  shape.halo_high = {1};
  const auto view = ArrayView::make(shape);
  ASSERT_TRUE(view.ok()) << last_detail();
  const std::vector<int64_t> expected = {0, 8, 16, 24, 32, 40};
  EXPECT_EQ(elements_of(view->part({-2}, {6}, view->order()), 8), expected);
}

TEST(ArrayView, MayHaveNoElements) {
  ArrayShape shape = shape_with({0, 5});
  shape.halo_low = {1, 1};
  const auto view = ArrayView::make(shape);
  ASSERT_TRUE(view.ok()) << last_detail();
  EXPECT_EQ(view->counts()[0], 0U);
  Runs runs = view->inner(view->order());
  Runs::Run run;
  EXPECT_FALSE(runs.next(&run));
}

TEST(ArrayView, RefusesWhatIsNoArray) {
  ArrayShape shape = shape_with({4, 4});
  shape.stride = {16, 8};
  EXPECT_EQ(ArrayView::make(shape).code(), EINVAL) << "rows overlap";
  shape.stride = {32, 0};
  EXPECT_EQ(ArrayView::make(shape).code(), EINVAL) << "elements overlap";
  shape.stride = {INT64_MIN, 8};
  EXPECT_EQ(ArrayView::make(shape).code(), EINVAL);
  shape.stride = {INT64_MAX, 8};
  EXPECT_EQ(ArrayView::make(shape).code(), EOVERFLOW);
  shape = shape_with({4, -1});
  EXPECT_EQ(ArrayView::make(shape).code(), EINVAL);
  shape = shape_with({4, 4});
  shape.halo_low = {3, 0};
  shape.halo_high = {2, 0};
  EXPECT_EQ(ArrayView::make(shape).code(), EINVAL);
  shape = shape_with({4, 4});
  shape.axis = {1, 1};
  EXPECT_EQ(ArrayView::make(shape).code(), EINVAL);
  shape.axis = {0, 2};
  EXPECT_EQ(ArrayView::make(shape).code(), EINVAL);
  EXPECT_EQ(ArrayView::make(shape_with({INT64_MAX, 4})).code(), EOVERFLOW);
  shape.dimensions = 16;
  EXPECT_EQ(ArrayView::make(shape).code(), EOVERFLOW);
  shape = shape_with({4});
  shape.element_size = 4;
  EXPECT_EQ(ArrayView::make(shape).code(), EINVAL);
}

// Tries any strides that do not overlap, and compares with all element addresses.
TEST(ArrayView, ReachesEachInnerElementOnce) {
  std::mt19937 random(5);
  for (int round = 0; round < 1000; ++round) {
    ArrayShape shape;
    shape.type = Type::int16;
    shape.dimensions = 1 + random() % 4;
    Order nesting = plain_order();
    std::shuffle(nesting.begin(), nesting.begin() + shape.dimensions, random);
    Order axis = plain_order();
    std::shuffle(axis.begin(), axis.begin() + shape.dimensions, random);
    shape.axis = axis;
    int64_t stride = 2;
    for (unsigned i = 0; i < shape.dimensions; ++i) {
      const unsigned k = nesting[i];
      shape.extent[k] = 1 + static_cast<int64_t>(random() % 5);
      shape.halo_low[k] = static_cast<uint16_t>(random() % static_cast<uint64_t>(shape.extent[k]));
      shape.stride[k] = random() % 3 == 0 ? -stride : stride;
      stride *= shape.extent[k];
      if (random() % 3 == 0) stride += 6;
    }
    const auto view = ArrayView::make(shape);
    ASSERT_TRUE(view.ok()) << last_detail();
    std::vector<int64_t> expected{0};
    for (unsigned k = 0; k < shape.dimensions; ++k) {
      std::vector<int64_t> more;
      for (const int64_t offset : expected)
        for (int64_t i = shape.halo_low[k]; i < shape.extent[k]; ++i)
          more.push_back(offset + i * shape.stride[k]);
      expected = more;
    }
    auto elements = elements_of(view->inner(view->order()), 2);
    std::sort(elements.begin(), elements.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(elements, expected);
  }
}

}  // namespace
}  // namespace cairn::checkpoint
