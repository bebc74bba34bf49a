// Takes and gives back blocks of a pool (pool/space/space.h); creating a pool for it needs a file
// system.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "pool/lanes/seats.h"
#include "pool/space/space.h"
#include "support/fresh_pool.h"

namespace cairn::pool {
namespace {

using SpaceTest = file::FreshPool;

// Blocks that a process has taken and not published; given back at the end.
class Taken {
 public:
  Taken(Pool& pool, LocalSeat& seat) : pool_(pool), seat_(seat) {}
  ~Taken() {
    for (const auto& [first, count] : runs_) give_back(pool_, first, count);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  // Returns the status of the attempt; the run's blocks must belong to no other run.
  Status take(uint32_t wanted) {
    CAIRN_TRY_ASSIGN(run, pool::take(pool_, seat_, {.inode = 1, .wanted = wanted}));
    EXPECT_GE(run.count, 1U);
    EXPECT_LE(run.count, wanted);
    for (uint32_t i = 0; i < run.count; ++i)
      EXPECT_TRUE(blocks_.insert(run.first.plus(i).value).second) << run.first.plus(i).value;
    runs_.emplace_back(run.first, run.count);
    clear_in_flight(pool_, seat_, run);
    return Status();
  }
  [[nodiscard]] size_t blocks() const { return blocks_.size(); }

 private:
  Pool& pool_;
  LocalSeat& seat_;
  std::set<uint64_t> blocks_;
  std::vector<std::pair<BlockRef, uint32_t>> runs_;
};

TEST_F(SpaceTest, GivesEachBlockOnceAndAllOfThem) {
  const uint64_t before = usage(fs->pool).free;
  {
    const SeatGuard seat(fs->pool);
    Taken taken(fs->pool, *seat);
    Status status;
    while (status.ok()) status = taken.take(100);
    EXPECT_EQ(status.code(), ENOSPC);
    const Usage left = usage(fs->pool);
    EXPECT_EQ(taken.blocks(), before - left.free);
    EXPECT_EQ(left.free, left.reserve);  // for what may not fail
  }
  EXPECT_EQ(usage(fs->pool).free, before);
}

TEST_F(SpaceTest, GivesAgainWhatWasGivenBackToAFullPool) {
  const SeatGuard seat(fs->pool);
  {
    Taken taken(fs->pool, *seat);
    while (taken.take(512).ok()) {
    }
    EXPECT_EQ(taken.take(1).code(), ENOSPC);
  }
  Taken again(fs->pool, *seat);
  EXPECT_TRUE(again.take(1).ok()) << last_detail();
}

}  // namespace
}  // namespace cairn::pool
