#include "checkpoint/session/version_levels.h"

#include <gtest/gtest.h>

#include "checkpoint/redundancy/drain_here.h"
#include "support/run_on_pool.h"

namespace cairn::checkpoint {
namespace {

class VersionLevelsTest : public RunOnPool {
 protected:
  LevelProgress progress_of(uint64_t sequence, bool is_decided,
                            const VersionLevels::CopyErrors& errors = {}) {
    return levels_.progress_of(sequence, writer->outcome(sequence), is_decided, errors);
  }
  static uint64_t time_at(const LevelProgress& progress, VersionLevel level) {
    return progress.level_ns[static_cast<size_t>(level)];
  }
  void copy_to_lower(uint64_t sequence) {
    const auto look = [&](bool) -> Result<PoolSight> {
      return PoolSight{view.catalogue(), {sequence, sequence, sequence}};
    };
    const auto drained = drain_here(view.set(), view.slot_cache(), *view.catalogue(),
                                    {sequence, lower_.path(), {2, false}, true, look});
    ASSERT_TRUE(drained.ok()) << last_detail();
  }

  LowerDirectory lower_;
  VersionLevels levels_{&view, lower_.path()};
};

TEST_F(VersionLevelsTest, AVersionIsStagedAndThenLocal) {
  begin();
  const uint64_t sequence = write(1);
  const LevelProgress staged = progress_of(sequence, false);
  EXPECT_EQ(staged.level, VersionLevel::staged);
  EXPECT_EQ(staged.survives, 0U);
  EXPECT_GT(time_at(staged, VersionLevel::staged), 0U);
  EXPECT_EQ(time_at(staged, VersionLevel::local), 0U);

  const LevelProgress local = progress_of(sequence, true);
  EXPECT_EQ(local.level, VersionLevel::local);
  EXPECT_EQ(local.survives, levels_.survives());
  EXPECT_NE(local.survives & survives_processes, 0U);
  EXPECT_EQ(local.survives & (survives_node | survives_pools), 0U);
  EXPECT_GE(time_at(local, VersionLevel::local), time_at(local, VersionLevel::staged));
  EXPECT_EQ(local.bytes, array.values.size() * sizeof(double));
  end();
}

TEST_F(VersionLevelsTest, NothingIsKnownOfAVersionThatIsForgotten) {
  begin();
  const LevelProgress progress = levels_.progress_of(99, nullptr, true, {EIO, EIO});
  EXPECT_EQ(progress.level, VersionLevel::staged);
  EXPECT_EQ(progress.error, 0);
  end();
}

TEST_F(VersionLevelsTest, AnAbortedVersionHasItsError) {
  begin();
  Outcome aborted;
  aborted.error = ENOSPC;
  const LevelProgress progress = levels_.progress_of(1, &aborted, true, {EIO, EIO});
  EXPECT_EQ(progress.level, VersionLevel::staged);
  EXPECT_EQ(progress.error, ENOSPC);
  end();
}

TEST_F(VersionLevelsTest, TheFirstErrorOfItsCopiesKeepsItFromFurtherLevels) {
  begin();
  const uint64_t sequence = write(1);
  EXPECT_EQ(progress_of(sequence, true, {EUCLEAN, EIO}).error, EUCLEAN);
  EXPECT_EQ(progress_of(sequence, true, {0, EIO}).error, EIO);
  end();
}

TEST_F(VersionLevelsTest, PartnersCountOnceAllPartsAreThereTwice) {
  begin();
  const uint64_t sequence = write(1);
  KnownVersion of_two = *view.catalogue()->find(sequence);
  of_two.version.sequence = sequence + 1;
  of_two.version.parts = 2;
  of_two.holders = {0, 1};
  of_two.partners = {1, 0};
  view.catalogue()->add(of_two);
  EXPECT_FALSE(levels_.has_partners(sequence + 1)) << "the manifest notes none";
  levels_.know_partners();
  EXPECT_TRUE(levels_.has_partners(sequence + 1));
  EXPECT_FALSE(levels_.has_partners(sequence));
  EXPECT_FALSE(levels_.has_partners(sequence + 2)) << "there is no such version";
  end();
}

TEST_F(VersionLevelsTest, ACopyInThisLowerMakesItGlobal) {
  begin();
  const uint64_t sequence = write(1);
  EXPECT_FALSE(levels_.is_global(sequence));
  copy_to_lower(sequence);
  EXPECT_TRUE(levels_.is_global(sequence));
  const LevelProgress progress = progress_of(sequence, true);
  EXPECT_EQ(progress.level, VersionLevel::global);
  EXPECT_NE(progress.survives & survives_pools, 0U);
  EXPECT_NE(progress.survives & survives_power, 0U);
  EXPECT_GT(time_at(progress, VersionLevel::global), 0U);
  EXPECT_EQ(progress_of(sequence, true, {0, EIO}).error, 0) << "it has the copy";

  const LowerDirectory other;
  EXPECT_FALSE(VersionLevels(&view, other.path()).is_global(sequence));
  EXPECT_FALSE(VersionLevels(&view, "").is_global(sequence));
  end();
}

}  // namespace
}  // namespace cairn::checkpoint
