#include "cluster/rpc/coordinator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "cluster/record/codec.h"

namespace cairn::cluster {
namespace {

class CoordinatorTest : public testing::Test {
 protected:
  Reply ask(Op op, uint32_t which, int64_t value, const std::vector<ByteRun>& runs = {}) {
    Request request = {};
    request.op = op;
    request.home = 5;
    request.which = which;
    request.value = value;
    request.runs = runs.size();
    more = {};
    return coordinator.answer(request, runs.data(), "", &more);
  }
  Reply lock(int64_t process, const std::string& text, Holder gone = {}) {
    Request request = {};
    request.op = Op::lock;
    request.home = 5;
    request.which = 1;
    request.value = process;
    std::memcpy(request.uuid.data(), &gone, sizeof gone);
    more = {};
    return coordinator.answer(request, nullptr, text, &more);
  }
  std::vector<std::string> left() const {
    std::vector<std::string> all;
    Unpacker in(more.left.data(), more.left.size());
    while (in.left() != 0 && in.ok()) all.push_back(in.text());
    return all;
  }

  Coordinator coordinator;
  Coordinator::More more;
};

TEST_F(CoordinatorTest, AddsToTheWordsThatItHasAndNoOther) {
  EXPECT_EQ(ask(Op::fetch_add, Coordinator::words - 1, 3).value, 0);
  EXPECT_EQ(ask(Op::fetch_add, Coordinator::words - 1, -1).value, 3);
  EXPECT_EQ(ask(Op::fetch_add, Coordinator::words - 1, 0).value, 2);
  EXPECT_EQ(ask(Op::fetch_add, Coordinator::words, 1).error, EINVAL);
  EXPECT_EQ(ask(Op::store, UINT32_MAX, 1).error, EINVAL);
}

TEST_F(CoordinatorTest, TellsWhoHoldsALock) {
  EXPECT_EQ(lock(10, "").value, 1);
  EXPECT_EQ(lock(11, "").value, 0);
  EXPECT_EQ(more.holder.process, 10U);
  ask(Op::unlock, 1, 11);  // it is not the holder
  EXPECT_EQ(lock(11, "").value, 0);
  ask(Op::unlock, 1, 10);
  EXPECT_EQ(lock(11, "").value, 1);
}

TEST_F(CoordinatorTest, TellsWhatADeadHolderHadSaid) {
  lock(10, "makes a");
  EXPECT_EQ(lock(11, "makes b", {1, 10}).value, 2);
  EXPECT_EQ(left(), std::vector<std::string>{"makes a"});
  // A third one that takes it away from the second is told both.
  EXPECT_EQ(lock(12, "", {1, 11}).value, 2);
  EXPECT_EQ(left(), (std::vector<std::string>{"makes a", "makes b"}));
}

// Of two that find the holder dead, the second one must not take the lock from the first one.
TEST_F(CoordinatorTest, TakesALockFromItsHolderOnly) {
  lock(10, "");
  EXPECT_EQ(lock(11, "", {1, 10}).value, 2);
  EXPECT_EQ(lock(12, "", {1, 10}).value, 0);
  EXPECT_EQ(more.holder.process, 11U);
}

TEST_F(CoordinatorTest, GivesNewsFromWhereTheyWereReadLast) {
  ask(Op::post, 3, 0, {{0, 10}, {20, 10}});
  EXPECT_EQ(ask(Op::news, 0, 1).value, 2);
  ASSERT_EQ(more.posted.size(), 1U);
  EXPECT_EQ(more.posted[0].run, (ByteRun{20, 10}));
  EXPECT_EQ(more.posted[0].node, 3U);
  ask(Op::trim, 0, 1);
  EXPECT_EQ(ask(Op::news, 0, 0).error, EINVAL);  // it is not there any more
  EXPECT_EQ(ask(Op::news, 0, 3).error, EINVAL);  // nor is it there yet
  ask(Op::trim, 0, 100);
  EXPECT_EQ(ask(Op::news, 0, 2).error, 0);
  EXPECT_TRUE(more.posted.empty());
}

TEST_F(CoordinatorTest, GivesAsManyNewsAsAReplyHolds) {
  ask(Op::post, 0, 0, std::vector<ByteRun>(most_news + 1, ByteRun{0, 1}));
  EXPECT_EQ(ask(Op::news, 0, 0).value, static_cast<int64_t>(most_news) + 1);
  EXPECT_EQ(more.posted.size(), most_news);
}

}  // namespace
}  // namespace cairn::cluster
