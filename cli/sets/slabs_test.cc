#include "sets/slabs.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

uint64_t product(const std::vector<int64_t>& counts) {
  uint64_t all = 1;
  for (const int64_t count : counts) all *= static_cast<uint64_t>(count);
  return all;
}

// Every slab is what it says, and they follow each other.
void check(const std::vector<uint64_t>& shape, uint64_t most) {
  uint64_t next = 0;
  for_each_slab(shape, most, [&](const Slab& slab) {
    EXPECT_EQ(slab.first, next);
    EXPECT_EQ(product(slab.count), slab.elements);
    EXPECT_LE(slab.elements, std::max<uint64_t>(most, 1));
    uint64_t index = 0;
    for (size_t k = 0; k < shape.size(); ++k) {
      EXPECT_LE(static_cast<uint64_t>(slab.offset[k] + slab.count[k]), shape[k]);
      index = index * shape[k] + static_cast<uint64_t>(slab.offset[k]);
    }
    EXPECT_EQ(index, slab.first);
    next += slab.elements;
    return true;
  });
  uint64_t total = 1;
  for (const uint64_t extent : shape) total *= extent;
  EXPECT_EQ(next, total);
}

TEST(Slabs, CoverAnArray) {
  for (const uint64_t most : {0U, 1U, 2U, 3U, 7U, 12U, 13U, 24U, 60U, 1000U}) {
    check({}, most);
    check({5}, most);
    check({4, 3, 5}, most);
    check({1, 1, 7, 1}, most);
    check({3, 0, 5}, most);
  }
}

// All boxes of an array, against a look at each element.
TEST(Slabs, RunsOfABox) {
  const std::vector<uint64_t> shape = {3, 2, 4};
  const auto each = [&](auto visit) {
    for (int64_t i = 0; i < 3 * 2 * 4; ++i) visit(i / 8, i / 4 % 2, i % 4);
  };
  each([&](int64_t a, int64_t b, int64_t c) {
    each([&](int64_t x, int64_t y, int64_t z) {
      if (a + x >= 3 || b + y >= 2 || c + z >= 4) return;
      const Slab box{{a, b, c}, {x + 1, y + 1, z + 1}, 0, 0};
      std::vector<uint64_t> wanted;
      each([&](int64_t i, int64_t j, int64_t k) {
        if (i >= a && i <= a + x && j >= b && j <= b + y && k >= c && k <= c + z)
          wanted.push_back(static_cast<uint64_t>((i * 2 + j) * 4 + k));
      });
      std::vector<uint64_t> found;
      size_t runs = 0;
      for_each_run(shape, box, [&](uint64_t first, uint64_t elements) {
        ++runs;
        for (uint64_t i = 0; i < elements; ++i) found.push_back(first + i);
      });
      EXPECT_EQ(found, wanted);
      if (z == 3) {
        EXPECT_EQ(runs, y == 1 ? 1U : static_cast<size_t>(x + 1));
      }
    });
  });
  int scalars = 0;
  for_each_run({}, {}, [&](uint64_t first, uint64_t elements) {
    EXPECT_EQ(first, 0U);
    EXPECT_EQ(elements, 1U);
    ++scalars;
  });
  EXPECT_EQ(scalars, 1);
}

TEST(Slabs, StopWhenAsked) {
  int visits = 0;
  for_each_slab({10}, 1, [&](const Slab&) { return ++visits < 3; });
  EXPECT_EQ(visits, 3);
}

}  // namespace
}  // namespace cairn::cli
