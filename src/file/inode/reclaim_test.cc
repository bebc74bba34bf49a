#include "file/inode/reclaim.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "file/data/io.h"
#include "file/data/truncate.h"
#include "file/namespace/names.h"
#include "file/open/ending.h"
#include "file/open/open_file.h"
#include "pool/lanes/epoch.h"
#include "pool/lanes/seats.h"
#include "support/fresh_pool.h"

namespace cairn::file {
namespace {

class Reclaim : public FreshPool {
 protected:
  // Runs `work` in threads, as often as it can in a short while.
  template <typename... Work>
  static void together(Work... work) {
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    const auto run = [&over](auto act) {
      return std::thread([&over, act] {
        while (!over && !HasFailure()) act();
      });
    };
    (threads.push_back(run(work)), ...);
    std::this_thread::sleep_for(std::chrono::milliseconds(800));
    over = true;
    for (std::thread& thread : threads) thread.join();
  }
};

// A process that began while a file was being cut, in an epoch that others have just begun, keeps
// the blocks readable.
TEST_F(Reclaim, LeavesWhatSomebodyInsideHasFound) {
  constexpr unsigned files = 4;
  std::array<std::unique_ptr<File>, files> file;
  for (unsigned i = 0; i < files; ++i) {
    auto made = create_name(*fs, format::root_inode, std::to_string(i), {S_IFREG | 0600});
    ASSERT_TRUE(made.ok()) << last_detail();
    const pool::SeatGuard seat(fs->pool);
    auto opened = open_inode(*fs, *seat, made->number, O_RDWR);
    ASSERT_TRUE(opened.ok()) << last_detail();
    file[i] = std::move(*opened);
  }
  const auto cut = [&](unsigned i) {
    return [&, i] {
      const char byte = 'x';
      EXPECT_TRUE(write_at(*file[i], &byte, 1, 0).ok()) << last_detail();
      EXPECT_TRUE(truncate(*fs, file[i]->map(), 0).ok()) << last_detail();
    };
  };
  const auto give_back = [&] {
    const pool::SeatGuard seat(fs->pool);
    pool::has_passed(fs->pool, pool::current_epoch(fs->pool), seat.get());
    for (uint32_t shard = 0; shard < format::orphan_shards; ++shard)
      reclaim_list(*fs, *seat, shard);
  };
  const auto look = [&](unsigned i) {
    return [&, i] {
      const pool::SeatGuard seat(fs->pool);
      MapCursor cursor;
      ASSERT_TRUE(walk(fs->pool, file[i]->map(), 0, &cursor).ok()) << last_detail();
      for (int n = 0; cursor.block && n < 100 && !HasFailure(); ++n) {
        const uint64_t owner = fs->pool.record(cursor.block).owner.load();
        EXPECT_EQ(format::record_state(owner), format::record_used);
        EXPECT_EQ(format::record_inode(owner), file[i]->number);
        std::this_thread::yield();
      }
    };
  };
  together(cut(0), give_back, look(0));
  const pool::SeatGuard seat(fs->pool);
  for (auto& opened : file) close_file(*seat, std::move(opened));
}

TEST_F(Reclaim, LeavesAFileWithoutANameToWhoIsAboutToOpenIt) {
  const auto make = [&] {
    const pool::SeatGuard seat(fs->pool);
    auto made =
        create_unnamed(*fs, *seat, *inode_at(*fs, format::root_inode), S_IFREG | 0600, true);
    ASSERT_TRUE(made.ok()) << last_detail();
    auto file = open_unnamed(*fs, *seat, *made, O_RDWR);
    ASSERT_TRUE(file.ok()) << last_detail();
    close_file(*seat, std::move(*file));
  };
  const auto sweep = [&] {
    fs->pool.store(fs->pool.state->sweep, 1);
    const pool::SeatGuard seat(fs->pool);
    sweep_unlinked(*fs, *seat);
  };
  together(make, sweep);
}

}  // namespace
}  // namespace cairn::file
