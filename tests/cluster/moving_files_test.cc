// Ordinary files while they move from one node to another.
#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "capi/core/handles.h"
#include "capi/job/job.h"
#include "cluster/files_of_nodes.h"
#include "cluster/local/local_server.h"
#include "cluster/rpc/job_lock.h"
#include "file/inode/moving.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"

namespace cairn::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

file::FileSystem& fs_of(const CoveredNodes& covered, uint32_t node) {
  return capi::fs_of(covered.pool(node));
}

file::Map map_of(const CoveredNodes& covered, uint32_t node, const char* path) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_lookup(covered.pool(node), covered.top(node), path, 0, &st), 0) << path;
  auto inode = file::live_inode(fs_of(covered, node), st.ino);
  EXPECT_TRUE(inode.ok()) << last_detail();
  return {inode.ok() ? *inode : nullptr, st.ino};
}

void end_moving(const CoveredNodes& covered, uint32_t node, const file::Map& map) {
  const pool::SeatGuard seat(fs_of(covered, node).pool);
  file::end_moving(fs_of(covered, node), *seat, map, map.inode->generation.load());
}

TEST(MovingFiles, WhoFetchesOneWaitsForItsPlace) {
  CoveredNodes covered(2);
  covered.make_file(1, "file");
  const file::Map map = map_of(covered, 1, "file");
  ASSERT_TRUE(file::begin_moving(fs_of(covered, 1), map).ok()) << last_detail();
  std::thread mover([&] {
    std::this_thread::sleep_for(milliseconds(300));
    end_moving(covered, 1, map);
  });
  EXPECT_EQ(cairn_shared_fetch(covered.job(0), "file"), 0) << cairn_last_error();
  mover.join();
  EXPECT_EQ(covered.mode(1, "file"), 0U);
  EXPECT_EQ(covered.mode(0, "file"), S_IFREG | 0600U);
}

// The server that is asked to change one is also who is told that it has its place: it waits for
// nothing.
TEST(MovingFiles, AServerChangesOneThatLiesBelowAtOnce) {
  CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
    std::ofstream(directory + "/file") << "contents";
  });
  ASSERT_EQ(cairn_shared_claim(covered.job(1), "file"), 0) << cairn_last_error();
  const file::Map map = map_of(covered, 1, "file");
  ASSERT_TRUE(file::begin_moving(fs_of(covered, 1), map).ok()) << last_detail();
  const auto begun = steady_clock::now();
  EXPECT_EQ(cairn_shared_set_size(covered.job(0), "file", 3), 0) << cairn_last_error();
  EXPECT_LT(steady_clock::now() - begun, milliseconds(2500));
  end_moving(covered, 1, map);
}

// As if a process of a third node had been killed: the server that has set the mark for it lives.
TEST(MovingFiles, OneThatHasMovedForTooLongIsFetched) {
  CoveredNodes covered(2);
  covered.make_file(1, "file");
  ASSERT_TRUE(file::begin_moving(fs_of(covered, 1), map_of(covered, 1, "file")).ok());
  EXPECT_EQ(cairn_shared_fetch(covered.job(0), "file"), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode(0, "file"), S_IFREG | 0600U);
}

TEST(MovingFiles, OneThatIsRenamedMeanwhileDoesNotStayMarked) {
  CoveredNodes covered(2);
  covered.make_file(1, "file");
  const file::Map map = map_of(covered, 1, "file");
  cluster::Job& job = covered.job(1)->job;
  auto seen = cluster::look_own(job, "file", false);
  ASSERT_TRUE(seen.ok()) << last_detail();
  ASSERT_TRUE(cluster::reserve_own(job, "file", *seen, false).ok()) << last_detail();
  ASSERT_EQ(cairn_rename(covered.pool(1), covered.top(1), "file", covered.top(1), "renamed", 0), 0);
  EXPECT_EQ(cluster::take_own(job, "file", *seen).code(), ENOENT);
  EXPECT_FALSE(file::is_moving(*map.inode));
}

constexpr uint64_t lock_of_names = 0x6e616d6573ULL;  // names.cc

// Node 0 makes a file that node 1 has, waits for the job's lock, and meanwhile `use` is made of it.
template <typename Use>
void use_while_made(const CoveredNodes& covered, Use use) {
  covered.make_file(1, "file");
  cluster::Job& other = covered.job(1)->job;
  ASSERT_TRUE(cluster::lock(other, 0, lock_of_names, "test").ok());
  std::thread maker([&] {
    EXPECT_EQ(cairn_shared_mknod(covered.job(0), "file", 0600, 0), -EBUSY) << cairn_last_error();
  });
  const auto until = steady_clock::now() + std::chrono::seconds(20);
  while (covered.mode(0, "file") == 0 && steady_clock::now() < until)
    std::this_thread::sleep_for(milliseconds(1));
  use(map_of(covered, 0, "file"));
  EXPECT_TRUE(cluster::unlock(other, 0, lock_of_names).ok());
  maker.join();
  EXPECT_NE(covered.mode(0, "file"), 0U);
}

// Whoever has opened it would write into a file without a name.
TEST(MovingFiles, OneThatIsOpenDoesNotGiveWay) {
  CoveredNodes covered(2);
  cairn_file* open = nullptr;
  use_while_made(covered, [&](const file::Map& map) {
    // Somebody has waited for as long as one does.
    end_moving(covered, 0, map);
    EXPECT_EQ(cairn_open(covered.pool(0), covered.top(0), "file", O_RDWR, 0, &open), 0);
  });
  cairn_close(open);
}

TEST(MovingFiles, OneThatWasWrittenAndClosedDoesNotGiveWay) {
  CoveredNodes covered(2);
  use_while_made(covered, [&](const file::Map& map) {
    end_moving(covered, 0, map);
    write_own(covered, 0, "file", "written");
  });
  EXPECT_EQ(read_own(covered, 0, "file"), "written");
}

// Who does this does not open it, and so does not wait.
TEST(MovingFiles, OneThatWasChangedByItsNameDoesNotGiveWay) {
  CoveredNodes covered(2);
  use_while_made(covered, [&](const file::Map& map) {
    EXPECT_EQ(cairn_chmod(covered.pool(0), map.number, map.inode->generation.load(), 0400), 0);
  });
  EXPECT_EQ(covered.mode(0, "file"), S_IFREG | 0400U);
}

// It may still lose its name to what becomes of the file there.
TEST(MovingFiles, NobodyOpensItHereBeforeItIsGoneThere) {
  CoveredNodes covered(2);
  covered.make_file(1, "file");
  file::FileSystem& there = fs_of(covered, 1);
  auto directory = file::live_inode(there, covered.top(1));
  ASSERT_TRUE(directory.ok()) << last_detail();
  std::thread fetcher;
  {
    // Nothing can be removed there as long as this is held.
    const pool::SeatGuard seat(there.pool);
    const pool::LockGuard lock(there.pool, *seat, (**directory).lock);
    fetcher = std::thread(
        [&] { EXPECT_EQ(cairn_shared_fetch(covered.job(0), "file"), 0) << cairn_last_error(); });
    const auto until = steady_clock::now() + std::chrono::seconds(20);
    while (covered.mode(0, "file") == 0 && steady_clock::now() < until)
      std::this_thread::sleep_for(milliseconds(1));
    EXPECT_NE(covered.mode(1, "file"), 0U);
    EXPECT_TRUE(file::is_moving(*map_of(covered, 0, "file").inode));
  }
  fetcher.join();
  EXPECT_EQ(covered.mode(1, "file"), 0U);
  EXPECT_FALSE(file::is_moving(*map_of(covered, 0, "file").inode));
}

}  // namespace
}  // namespace cairn::test
