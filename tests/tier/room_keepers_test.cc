// Several keepers of one pool, each of which drains another cover: a call that finds the pool full
// waits for all of them.
#include <vector>

#include "base/coarse_clock.h"
#include "capi/core/handles.h"
#include "file/space/room_request.h"
#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

class RoomKeepersTest : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    covered = std::make_unique<Covered>(pool_, lower_);
    // This process is one of the keepers. The first promise may be another process's.
    file::promise_room(fs());
    file::promise_room(fs());
    fs().keeps_room = false;  // and it asks as well
    other = &state().room_keeper[0];
    if (other->keeper.load() != 0) other = &state().room_keeper[1];
    pool().store(other->keeper, 1);
    pool().store(other->until, fine_monotonic_ns() + 3600 * second);
  }
  file::FileSystem& fs() { return capi::fs_of(covered->pool); }
  file::Pool& pool() { return fs().pool; }
  format::State& state() { return *pool().state; }
  void answer() { file::answer_room(pool(), state().room_wanted.load()); }
  void other_answers() { pool().store(other->answered, state().room_wanted.load()); }

  static constexpr uint64_t second = 1'000'000'000;
  std::unique_ptr<Covered> covered;
  format::RoomKeeper* other = nullptr;
};

TEST_F(RoomKeepersTest, ARequestIsAnsweredOnceAllHaveAnswered) {
  std::vector<bool> answered;
  const auto look = [&](bool has_drained) {
    answered.push_back(has_drained);
    if (answered.size() == 1) answer();
    if (answered.size() == 4) other_answers();
    return has_drained;
  };
  EXPECT_TRUE(file::ask_keeper_for_room(fs(), look));
  EXPECT_EQ(answered, (std::vector<bool>{false, false, false, false, true}));
}

TEST_F(RoomKeepersTest, AnAnswerOfAnotherIsNotOurs) {
  EXPECT_FALSE(file::is_room_wanted(pool()));
  const auto look = [&](bool has_drained) {
    if (has_drained) return true;
    other_answers();
    EXPECT_TRUE(file::is_room_wanted(pool()));
    answer();
    EXPECT_FALSE(file::is_room_wanted(pool()));
    return false;
  };
  EXPECT_TRUE(file::ask_keeper_for_room(fs(), look));
}

TEST_F(RoomKeepersTest, TheEndOfOnePromiseIsNotThatOfOthers) {
  file::end_promise(pool());
  int looks = 0;
  const auto look = [&](bool has_drained) {
    ++looks;
    other_answers();
    return has_drained;
  };
  EXPECT_TRUE(file::ask_keeper_for_room(fs(), look));
  EXPECT_EQ(looks, 2);
  pool().store(other->until, 0);
  EXPECT_FALSE(file::ask_keeper_for_room(fs(), look));
  EXPECT_EQ(looks, 2);
}

TEST_F(RoomKeepersTest, AKeeperThatIsGoneLeavesItsPlace) {
  for (format::RoomKeeper& words : state().room_keeper) {
    pool().store(words.keeper, 1);
    pool().store(words.until, 1);
  }
  file::promise_room(fs());
  EXPECT_NE(state().room_keeper[0].keeper.load(), 1U);
  EXPECT_GT(state().room_keeper[0].until.load(), fine_monotonic_ns());
  EXPECT_EQ(state().keeper_until.load(), 0U);
}

}  // namespace
}  // namespace cairn::test
