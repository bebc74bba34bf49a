#include "checkpoint/versions/lineage.h"

#include <gtest/gtest.h>

namespace cairn::checkpoint {
namespace {

VersionRecord version_of(uint64_t sequence, const Lineage& lineage, int64_t number = 0,
                         uint64_t begun = 0) {
  VersionRecord version{};
  version.sequence = sequence;
  version.number = number == 0 ? static_cast<int64_t>(sequence) : number;
  version.begun = begun;
  put_lineage(lineage, &version);
  return version;
}

// Versions 1 to `last` of one run.
std::vector<VersionRecord> versions_to(uint64_t last) {
  std::vector<VersionRecord> versions;
  for (uint64_t s = 1; s <= last; ++s) versions.push_back(version_of(s, {s - 1, 0, {}}));
  return versions;
}

TEST(Lineage, ARunGoesOnInTheLineOfWhatItRestored) {
  const auto versions = versions_to(7);
  const Lineage lineage = lineage_after(versions[6], 7);
  EXPECT_EQ(lineage.parent, 7U);
  EXPECT_TRUE(lineage.ranges.empty());
  const VersionRecord next = version_of(8, lineage);
  for (uint64_t s = 1; s <= 8; ++s) EXPECT_TRUE(is_in_line(next, s)) << s;
  EXPECT_FALSE(is_in_line(next, 9));
}

TEST(Lineage, AfterFallingBackTheDamagedOneNeverCountsAgain) {
  const auto versions = versions_to(7);
  const VersionRecord next = version_of(8, lineage_after(versions[4], 7), 6);
  EXPECT_EQ(next.parent, 5U);
  EXPECT_TRUE(is_in_line(next, 5));
  EXPECT_FALSE(is_in_line(next, 6));
  EXPECT_FALSE(is_in_line(next, 7));
  // Again: 8 is damaged, back to 3.
  const VersionRecord later = version_of(9, lineage_after(versions[2], 8));
  EXPECT_TRUE(is_in_line(later, 3));
  for (const uint64_t s : {4, 5, 6, 7, 8}) EXPECT_FALSE(is_in_line(later, s)) << s;
}

TEST(Lineage, FullRangesRaiseTheHorizon) {
  VersionRecord version = version_of(1, {});
  uint64_t last = 1;
  for (unsigned i = 0; i < max_ranges + 3; ++i) {
    // Each run commits two versions; the next restores the first of them.
    const VersionRecord first = version_of(last + 1, lineage_after(version, last));
    last += 2;
    EXPECT_LE(first.range_count, max_ranges);
    EXPECT_LT(first.horizon, first.parent);
    EXPECT_TRUE(is_in_line(first, first.parent));
    EXPECT_FALSE(is_in_line(first, first.sequence - 1) && first.sequence - 1 != first.parent);
    version = first;
  }
  EXPECT_EQ(version.range_count, max_ranges);
  EXPECT_GT(version.horizon, 0U);
}

TEST(Lineage, ANewLineContinuesNothing) {
  const VersionRecord head = version_of(8, lineage_anew(7));
  for (uint64_t s = 1; s <= 7; ++s) EXPECT_FALSE(is_in_line(head, s)) << s;
  EXPECT_TRUE(is_in_line(head, 8));
}

TEST(Retention, KeepsTheNewestOfTheLine) {
  const auto versions = versions_to(5);
  EXPECT_EQ(beyond_retention(versions, versions[4], {2, 0, 0}), (std::vector<uint64_t>{3, 2, 1}));
  EXPECT_EQ(beyond_retention(versions, versions[4], {0, 0, 0}),
            (std::vector<uint64_t>{4, 3, 2, 1}));
  EXPECT_EQ(beyond_retention(versions, versions[4], {1, 2, 0}), (std::vector<uint64_t>{3, 1}));
}

TEST(Retention, AbandonedVersionsGoWithTheFirstCommit) {
  auto versions = versions_to(7);
  versions.push_back(version_of(8, lineage_after(versions[4], 7)));
  EXPECT_EQ(beyond_retention(versions, versions[7], {9, 0, 0}), (std::vector<uint64_t>{7, 6}));
}

TEST(Retention, KeepsTheNewestOfEachPeriod) {
  std::vector<VersionRecord> versions;
  for (uint64_t s = 1; s <= 6; ++s) versions.push_back(version_of(s, {s - 1, 0, {}}, 0, 10 * s));
  // Periods of 25: {1, 2}, {3, 4}, {5, 6}.
  EXPECT_EQ(beyond_retention(versions, versions[5], {1, 0, 25}), (std::vector<uint64_t>{5, 3, 1}));
}

}  // namespace
}  // namespace cairn::checkpoint
