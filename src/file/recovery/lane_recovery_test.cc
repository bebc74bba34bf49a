#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "file/inode/open_table.h"
#include "file/namespace/names.h"
#include "file/open/open_file.h"
#include "pool/lanes/free_lane.h"
#include "pool/lanes/recover.h"
#include "pool/lanes/seats.h"
#include "pool/space/free_bits.h"
#include "pool/space/space.h"
#include "support/fresh_pool.h"

namespace cairn::file {
namespace {

class Recovery : public FreshPool {};

// A seat notes the inode that it makes before it owns the inode, and clears the note after the
// inode is free again. A seat killed in between leaves a note of an inode that another may have
// taken since.
TEST_F(Recovery, LeavesAnInodeToWhoHasTakenItSince) {
  pool::Pool& pool = fs->pool;
  media::LivenessLock lock;
  auto dead = pool::take_lane(pool, media::Inheritance::own, &lock);
  ASSERT_TRUE(dead.ok()) << last_detail();
  const pool::SeatGuard seat(pool);
  auto made = make_inode(*fs, *seat, 0100600, pool::Need::ordinary);
  ASSERT_TRUE(made.ok()) << last_detail();
  const uint64_t state = made->inode->state.load();
  pool.store(pool.lanes[*dead].seat[0].allocating_inode, made->number);
  lock.release();
  pool::recover_if_dead(pool, *dead);
  EXPECT_EQ(pool.lanes[*dead].generation.load() % 2, 0U) << "it was not recovered";
  EXPECT_EQ(made->inode->state.load(), state);
  unmake_inode(*fs, *seat, *made);
}

// A process was killed inside a write: after its bytes, before its stamp.
TEST_F(Recovery, AFileThatAKilledProcessWasWritingIsNotDrained) {
  pool::Pool& pool = fs->pool;
  auto made = create_name(*fs, format::root_inode, "f", {S_IFREG | 0600});
  ASSERT_TRUE(made.ok()) << last_detail();
  const uint64_t drained = made->inode->mtime.load();
  pool.store(made->inode->drained, drained);
  media::LivenessLock lock;
  auto dead = pool::take_lane(pool, media::Inheritance::own, &lock);
  ASSERT_TRUE(dead.ok()) << last_detail();
  format::Seat& words = pool.lanes[*dead].seat[0];
  pool.store(words.epoch, pool.state->epoch.load());
  pool.store(words.writing, made->number);
  lock.release();
  pool::recover_if_dead(pool, *dead);
  EXPECT_EQ(words.writing.load(), 0U) << "it was not recovered";
  EXPECT_EQ(made->inode->mtime.load(), drained);
  EXPECT_NE(made->inode->drained.load(), drained);
}

// The repair of lost bits meets a block between the clearing of its bit and its record, and sets
// the bit again.
TEST_F(Recovery, NobodyTakesABlockThatHasAnOwner) {
  pool::Pool& pool = fs->pool;
  const pool::SeatGuard seat(pool);
  auto taken = pool::take(pool, *seat, {.inode = 77, .wanted = 4});
  ASSERT_TRUE(taken.ok() && taken->count == 4) << last_detail();
  pool::Segment& segment = *pool.segment[taken->first.segment()];
  pool::set_bits(pool, segment, taken->first.index() + 1, 2);
  auto other = pool::take(pool, *seat, {.inode = 78, .wanted = 2});
  ASSERT_TRUE(other.ok()) << last_detail();
  for (uint32_t i = 0; i < taken->count; ++i)
    EXPECT_EQ(format::record_inode(pool.record(taken->first.plus(i)).owner.load()), 77U) << i;
  for (const pool::BlockRun& run : {*taken, *other}) {
    pool::give_back(pool, run.first, run.count);
    pool::clear_in_flight(pool, *seat, run);
  }
}

// The pool was detached cleanly, and the machine boots again.
void come_back_after_power_loss(std::unique_ptr<FileSystem>* fs) {
  const std::string path = (**fs).pool.path;
  (**fs).pool.store((**fs).pool.state->boot_id[0], 1);
  detach(**fs);
  fs->reset();
  auto attached = attach(path, {});
  ASSERT_TRUE(attached.ok()) << last_detail();
  *fs = std::move(*attached);
}

// A lane's words are not flushed. After a power loss they may be old, also if the pool was detached
// cleanly before: a process that takes the lane and is killed has not freed what they name.
TEST_F(Recovery, AfterAPowerLossNoLaneOfACleanPoolHasWorkInFlight) {
  pool::Pool& before = fs->pool;
  const uint32_t last = before.lane_count - 1;
  before.store(before.lanes[last].seat[0].in_flight[0].run, 1234);
  before.store(before.lanes[last].seat[0].allocating_inode, 5);
  ASSERT_NO_FATAL_FAILURE(come_back_after_power_loss(&fs));
  EXPECT_EQ(fs->pool.lanes[last].seat[0].in_flight[0].run.load(), 0U);
  EXPECT_EQ(fs->pool.lanes[last].seat[0].allocating_inode.load(), 0U);
}

// The table of open files is not flushed either: an open file that came back would keep its inode
// for ever, or be closed once more.
TEST_F(Recovery, AfterAPowerLossNoFileOfACleanPoolIsOpen) {
  pool::Pool& before = fs->pool;
  uint64_t slot = 0;
  {
    const pool::SeatGuard seat(before);
    auto opened = open_inode(*fs, *seat, format::root_inode, O_RDONLY);
    ASSERT_TRUE(opened.ok()) << last_detail();
    slot = (**opened).slot;
    close_file(*seat, std::move(*opened));
  }
  const uint32_t last = before.lane_count - 1;
  format::OpenFile& old = *open_file_at(*fs, slot);
  before.store(old.inode, format::root_inode);
  before.store(old.holder[last / 64], 1ULL << (last % 64));
  before.store(old.state, format::open_state(77, format::open_live));
  ASSERT_NO_FATAL_FAILURE(come_back_after_power_loss(&fs));
  EXPECT_FALSE(is_open(*fs, format::root_inode));
  drop_lane(*fs, last);
  EXPECT_EQ((*live_inode(*fs, format::root_inode))->opens.load(), 0U);
}

}  // namespace
}  // namespace cairn::file
