// The list of covers while other runs begin and end theirs.
#include <atomic>
#include <thread>

#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

class CoversComeAndGoTest : public CoverTest {};

TEST_F(CoversComeAndGoTest, TheListIsNeverInTheirWay) {
  make_pool();
  fs::create_directories(lower_);
  fs::create_directories(disk_.path("other"));
  const Covered stays(pool_, lower_);
  std::atomic<bool> done = false;
  std::thread others([&] {
    for (int i = 0; i < 150; ++i) {
      Covered comes(pool_, disk_.path("other"));
      EXPECT_EQ(comes.discard(), 0) << cairn_last_error();
    }
    done = true;
  });
  int lists = 0;
  const auto count = [](void* context, const cairn_cover_info*) { ++*static_cast<int*>(context); };
  while (!done) {
    int covers = 0;
    EXPECT_EQ(cairn_cover_list(stays.pool, count, &covers), 0) << cairn_last_error();
    EXPECT_GE(covers, 1);
    EXPECT_LE(covers, 2);
    ++lists;
  }
  others.join();
  EXPECT_GT(lists, 0);
}

}  // namespace
}  // namespace cairn::test
