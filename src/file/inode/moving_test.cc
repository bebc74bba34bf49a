#include "file/inode/moving.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "file/namespace/names.h"
#include "file/open/open_file.h"
#include "support/fresh_pool.h"

namespace cairn::file {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Moving : public FreshPool {
 protected:
  Map make(const char* name, bool moving) {
    CreateRequest request;
    request.mode = S_IFREG | 0600;
    request.moving = moving;
    auto made = create_name(*fs, format::root_inode, name, request);
    EXPECT_TRUE(made.ok()) << last_detail();
    return *made;
  }
  // Returns how long an opener waits.
  milliseconds open(const Map& map) {
    const auto begun = steady_clock::now();
    const pool::SeatGuard seat(fs->pool);
    auto opened = open_inode(*fs, *seat, map.number, O_RDONLY);
    EXPECT_TRUE(opened.ok()) << last_detail();
    if (opened.ok()) close_file(*seat, std::move(*opened));
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begun);
  }
  // Runs act(file system) in another process, which is killed then.
  template <typename Act>
  void in_the_dead(Act act) {
    const pid_t child = fork();
    if (child == 0) {
      auto attached = attach(fs->pool.path, {});
      const bool done = attached.ok() && act(**attached);
      _exit(done ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << "the other process did not get that far";
  }
};

TEST_F(Moving, WhoOpensWaitsForItsPlace) {
  const Map map = make("file", false);
  ASSERT_TRUE(begin_moving(*fs, map).ok()) << last_detail();
  EXPECT_EQ(begin_moving(*fs, map).code(), EAGAIN);
  std::thread mover([&] {
    std::this_thread::sleep_for(milliseconds(200));
    const pool::SeatGuard seat(fs->pool);
    end_moving(*fs, *seat, map, map.inode->generation.load());
  });
  EXPECT_GE(open(map), milliseconds(150));
  mover.join();
}

TEST_F(Moving, NobodyWaitsForAMoverWhoWasKilled) {
  const Map map = make("file", false);
  in_the_dead([&](FileSystem& other) {
    auto inode = live_inode(other, map.number);
    return inode.ok() && begin_moving(other, {*inode, map.number}).ok();
  });
  ASSERT_TRUE(is_moving(*map.inode));
  EXPECT_LT(open(map), milliseconds(2500));
  EXPECT_FALSE(is_moving(*map.inode));
}

TEST_F(Moving, NobodyWaitsForAMakerWhoWasKilled) {
  uint64_t number = 0;
  in_the_dead([](FileSystem& other) {
    CreateRequest request;
    request.mode = S_IFREG | 0600;
    request.moving = true;
    return create_name(other, format::root_inode, "file", request).ok();
  });
  auto name = make_name("file", 4);
  {
    const pool::SeatGuard seat(fs->pool);
    auto slot = find_name(*fs, {*live_inode(*fs, format::root_inode), format::root_inode}, *name);
    ASSERT_TRUE(slot.ok()) << last_detail();
    number = slot->inode;
  }
  const Map map{*live_inode(*fs, number), number};
  ASSERT_TRUE(is_moving(*map.inode));
  EXPECT_LT(open(map), milliseconds(2500));
}

}  // namespace
}  // namespace cairn::file
