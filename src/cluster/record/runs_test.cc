#include "cluster/record/runs.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cairn::cluster {
namespace {

std::vector<bool> bits_of(const std::vector<ByteRun>& runs, size_t size) {
  std::vector<bool> bits(size);
  for (const ByteRun& run : runs)
    visit_pieces(run, 0, size, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) bits[i] = true;
    });
  return bits;
}

TEST(Runs, StridedPiecesAreOneRun) {
  ByteSet set;
  for (uint64_t k = 0; k < 1000; ++k) set.add(100 + k * 4096, 100 + k * 4096 + 1024);
  const auto runs = set.runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0], (cluster::ByteRun{100, 1024, 4096, 1000}));
  EXPECT_EQ(set.end(), 100U + 999 * 4096 + 1024);
}

TEST(Runs, WhatTouchesIsOnePiece) {
  ByteSet set;
  set.add(10, 20);
  set.add(30, 40);
  set.add(20, 30);
  ASSERT_EQ(set.runs().size(), 1U);
  EXPECT_EQ(set.runs()[0], (cluster::ByteRun{10, 30, 0, 1}));
  set.truncate(15);
  EXPECT_EQ(set.runs()[0], (cluster::ByteRun{10, 5, 0, 1}));
  set.truncate(10);
  EXPECT_TRUE(set.empty());
}

TEST(Runs, ManyWritesAtEqualDistancesStayFewRuns) {
  ByteSet set;
  for (int again = 0; again < 3; ++again)
    for (uint64_t variable = 0; variable < 5; ++variable)
      for (uint64_t k = 0; k < 10000; ++k)
        set.add(variable * 1000000000 + k * 300, variable * 1000000000 + k * 300 + 100);
  const auto runs = set.runs();
  EXPECT_EQ(runs.size(), 5U);
  for (const auto& run : runs) EXPECT_EQ(run.count, 10000U) << run.offset;
}

TEST(Runs, RandomSetsAreWhatAModelSays) {
  constexpr size_t size = 512;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    ByteSet set;
    std::vector<bool> model(size);
    for (int step = 0; step < 40; ++step) {
      uint64_t begin = random() % size;
      uint64_t end = std::min<uint64_t>(size, begin + random() % 24);
      if (random() % 4 == 0) {
        // Pieces at equal distances, enough of them to be kept as a run.
        const uint64_t stride = 2 + random() % 20;
        const uint64_t length = 1 + random() % (stride - 1);
        for (begin = random() % 100; begin + length <= size; begin += stride) {
          set.add(begin, begin + length);
          for (uint64_t i = begin; i < begin + length; ++i) model[i] = true;
        }
        continue;
      }
      if (random() % 16 == 0) {
        begin = random() % size;
        set.truncate(begin);
        for (uint64_t i = begin; i < size; ++i) model[i] = false;
        continue;
      }
      set.add(begin, end);
      for (uint64_t i = begin; i < end; ++i) model[i] = true;
    }
    ASSERT_EQ(bits_of(set.runs(), size), model) << "seed " << seed;
    std::vector<bool> split(size);
    uint64_t at = 3;
    set.split(
        3, 400,
        [&](uint64_t begin, uint64_t end) {
          ASSERT_EQ(begin, at);
          at = end;
          for (uint64_t i = begin; i < end; ++i) split[i] = true;
        },
        [&](uint64_t begin, uint64_t end) {
          ASSERT_EQ(begin, at);
          at = end;
        });
    ASSERT_EQ(at, 400U);
    for (uint64_t i = 3; i < 400; ++i) ASSERT_EQ(split[i], model[i]) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cairn::cluster
