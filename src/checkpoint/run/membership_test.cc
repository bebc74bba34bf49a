#include "checkpoint/run/membership.h"

#include <gtest/gtest.h>

#include "support/fake_transport.h"

namespace cairn::checkpoint {
namespace {

using Joined = Result<std::unique_ptr<Membership>>;

Joined join_without(const MemberOptions& options) {
  return Membership::join("field", nullptr, options, Status());
}
Joined join(FakeTransport::Job* job, Status own = Status()) {
  return Membership::join("field", std::make_unique<FakeTransport>(job), {}, own);
}

TEST(Membership, AProcessWithoutATransportIsAloneUnlessItsOptionsNameOthers) {
  const auto alone = join_without({});
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ((*alone)->member().ranks, 1U);
  EXPECT_EQ((*alone)->nodes(), nullptr);
  EXPECT_NE((*alone)->member().key, Uuid()) << "no other run has it";

  const auto third = join_without({3, 4, "job 7", 0});
  ASSERT_TRUE(third.ok());
  EXPECT_EQ((*third)->member().rank, 3U);
  EXPECT_EQ((*third)->member().ranks, 4U);
  EXPECT_EQ((*third)->member().timeout_ms, 60'000U);
  const auto first = join_without({0, 4, "job 7", 10});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)->member().timeout_ms, 10U);
  EXPECT_EQ((*first)->member().key, (*third)->member().key) << "ranks of one job find each other";
}

TEST(Membership, OptionsThatNameNoJobOrNoRankOfItAreRefused) {
  EXPECT_EQ(join_without({4, 4, "job 7", 0}).code(), EINVAL);
  EXPECT_EQ(join_without({0, 4, "", 0}).code(), EINVAL);
}

TEST(Membership, RanksOfANodeAreNumberedFromZero) {
  FakeTransport::Job job;
  job.nodes = 2;
  job.ranks_of_node = 3;
  job.rank = 4;
  const auto joined = join(&job);
  ASSERT_TRUE(joined.ok());
  const RunMember& member = (*joined)->member();
  EXPECT_EQ(member.rank, 1U);
  EXPECT_EQ(member.ranks, 3U);
  EXPECT_EQ(member.numbers, (std::vector<uint32_t>{3, 4, 5}));
  EXPECT_EQ(member.all_ranks, 6U);
  EXPECT_NE((*joined)->nodes(), nullptr);
}

TEST(Membership, LeavesTheTransportUnlessTheRunTakesIt) {
  FakeTransport::Job job;
  EXPECT_TRUE(join(&job).ok()) << "one node: the run needs it no more";
  EXPECT_EQ(job.left, 1);
  job.nodes = 2;
  {
    auto joined = join(&job);
    ASSERT_TRUE(joined.ok());
    const auto taken = (*joined)->take_nodes();
    EXPECT_NE(taken, nullptr);
    joined->reset();
    EXPECT_EQ(job.left, 1);
  }
}

TEST(Membership, ARankThatHasFailedJoinsSoThatTheOthersDoNotWait) {
  FakeTransport::Job job;
  const auto joined = join(&job, fail(EROFS, "the pool is attached for reading"));
  EXPECT_EQ(joined.code(), EROFS);
  EXPECT_STREQ(last_detail(), "the pool is attached for reading");
  EXPECT_EQ(job.joined, 1);
  EXPECT_FALSE(job.had_pool);
  EXPECT_EQ(job.left, 1);
}

TEST(Membership, AnErrorOfAnotherRankIsOneOfAll) {
  FakeTransport::Job job;
  auto joined = join(&job);
  ASSERT_TRUE(joined.ok());
  job.greatest_of_others = ENOSPC;
  EXPECT_EQ((*joined)->agree(Status()).code(), ENOSPC);
  EXPECT_EQ(std::string(last_detail()).find("another rank: "), 0U) << last_detail();
  job.greatest_of_others = 0;
  EXPECT_TRUE((*joined)->agree(Status()).ok());
}

TEST(Membership, AllRanksHaveToNameTheSameSet) {
  FakeTransport::Job job;
  job.as_rank_0_says = [](void* bytes) {
    std::memcpy(static_cast<char*>(bytes) + sizeof(Uuid), "other", 6);
  };
  EXPECT_EQ(join(&job).code(), EINVAL);
  EXPECT_STREQ(last_detail(), "rank 0 opens 'other'; all ranks name the same set");
}

}  // namespace
}  // namespace cairn::checkpoint
