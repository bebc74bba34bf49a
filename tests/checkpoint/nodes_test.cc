// A node is killed before or after each message that it sends or receives. What comes next finds
// the newest version that was acknowledged, or the one in flight; where a pool is lost besides, the
// newest one whose copies were acknowledged.
//
//   CAIRN_KILL_STRIDE   messages between two kills while nodes copy
#include "checkpoint/nodes.h"

#include "checkpoint/run/due_vote.h"
#include "checkpoint/versions/drop.h"

namespace cairn::checkpoint {
namespace {

constexpr uint32_t three_nodes = 3;
const std::vector<uint32_t> three_pools = {0, 1, 2};

class KilledNodes : public testing::Test {
 protected:
  // What the next run, whose nodes have the rows of others, finds on all nodes; 0: nothing that can
  // be had.
  int64_t look(const std::vector<uint32_t>& members) {
    pools_.run(members, {{}, turn_++, 0, false}, &told_, &came_);
    for (const Came& one : came_) {
      EXPECT_TRUE(one.error == 0 || (one.error == EHOSTDOWN && one.number == 0)) << one.text;
      EXPECT_EQ(one.number, came_[0].number) << "all nodes find the same";
      EXPECT_TRUE(one.number == 0 || one.is_right) << "version " << one.number;
    }
    return came_[0].number;
  }

  Pools pools_{three_nodes};
  Told told_;
  std::vector<Came> came_;
  uint32_t turn_ = 0;
};

TEST_F(KilledNodes, AtEachMessage) {
  uint64_t kills = 0;
  uint64_t in_flight = 0;
  for (uint32_t victim = 0; victim < three_nodes; ++victim) {
    for (uint64_t dies_at = 1;; ++dies_at) {
      SCOPED_TRACE("node " + std::to_string(victim) + " at step " + std::to_string(dies_at));
      std::vector<Came> came;
      const bool is_killed =
          pools_.run(three_pools, {{}, turn_++, 2, false}, &told_, &came, {victim, dies_at, 0});
      const int64_t acknowledged = told_.acknowledged;
      const int64_t found = look(three_pools);
      EXPECT_EQ(came_[0].error, 0) << came_[0].text;
      ASSERT_FALSE(HasFailure());
      ASSERT_GE(found, acknowledged);
      ASSERT_LE(found, told_.begun);
      if (found > acknowledged) ++in_flight;
      told_.begun = told_.acknowledged = found;
      if (!is_killed) {
        for (const Came& one : came) EXPECT_EQ(one.error, 0) << one.text;
        break;
      }
      ++kills;
    }
  }
  EXPECT_GT(kills, 3 * 20U);
  // A node that is killed when all parts are durable and some node has decided: the version is
  // there.
  EXPECT_GT(in_flight, 0U);
}

// And then a pool is lost, with or without a fresh one in its place.
TEST_F(KilledNodes, WhileTheyCopyAndWithoutAPool) {
  uint64_t kills = 0;
  uint64_t without_copies = 0;
  const uint64_t stride = test::number_from_environment("CAIRN_KILL_STRIDE", 5);
  for (uint32_t victim = 0; victim < three_nodes; ++victim) {
    for (uint64_t dies_at = 1 + victim % stride;; dies_at += stride) {
      SCOPED_TRACE("node " + std::to_string(victim) + " at step " + std::to_string(dies_at));
      std::vector<Came> came;
      const bool is_killed =
          pools_.run(three_pools, {{}, turn_++, 2, true}, &told_, &came, {victim, dies_at, 0});
      // Nothing is lost yet, or what was copied is there without a node.
      if (dies_at % 2 == 0) {
        ASSERT_GE(look(three_pools), told_.acknowledged);
      }
      const uint32_t lost = static_cast<uint32_t>(dies_at + victim) % three_nodes;
      pools_.begin_anew(lost);
      std::vector<uint32_t> members = three_pools;
      if (dies_at % 3 == 0) members.erase(members.begin() + lost);
      const int64_t found = look(members);
      ASSERT_FALSE(HasFailure());
      ASSERT_GE(found, told_.copied);
      ASSERT_LE(found, told_.begun);
      if (found < told_.acknowledged) ++without_copies;
      if (!is_killed) {
        for (const Came& one : came) EXPECT_EQ(one.error, 0) << one.text;
        EXPECT_EQ(found, told_.acknowledged);
      }
      // What was read from a copy is there once only.
      told_.begun = told_.acknowledged = told_.copied = 0;
      pools_ = Pools(three_nodes);
      if (!is_killed) break;
      ++kills;
    }
  }
  EXPECT_GT(kills, 3 * 20 / stride);
  EXPECT_GT(without_copies, 0U) << "a version is lost that was not copied";
}

// An error that a leader has found once does not turn into a version that others do not have.
TEST_F(KilledNodes, AMessageThatCannotBeSent) {
  uint64_t failures = 0;
  for (uint64_t fails_at = 1;; ++fails_at) {
    SCOPED_TRACE("gather " + std::to_string(fails_at));
    std::vector<Came> came;
    if (!pools_.run(three_pools, {{}, turn_++, 2, false}, &told_, &came, {1, 0, fails_at})) break;
    ++failures;
    EXPECT_NE(came[1].error, 0);
    const int64_t acknowledged = told_.acknowledged;
    const int64_t found = look(three_pools);
    EXPECT_EQ(came_[0].error, 0) << came_[0].text;
    ASSERT_FALSE(HasFailure());
    ASSERT_GE(found, acknowledged);
    told_.begun = told_.acknowledged = found;
  }
  EXPECT_GT(failures, 2 * 2U) << "two for each version";
}

TEST_F(KilledNodes, APartIsNotAWholeVersion) {
  std::vector<Came> came;
  pools_.run(three_pools, {{}, 0, 2, false}, &told_, &came);
  for (const Came& one : came) ASSERT_EQ(one.error, 0) << one.text;
  const auto set = SetFile::open(pools_.fs(1), "field");
  ASSERT_TRUE(set.ok()) << last_detail();
  SlotCache slot_cache((*set)->fs(), (*set)->directory());
  const auto manifests = Catalogue::read_manifests(**set, &slot_cache);
  ASSERT_TRUE(manifests.ok()) << last_detail();
  ASSERT_EQ(manifests->line().size(), 2U);
  for (const KnownVersion& known : manifests->line()) {
    EXPECT_EQ(drop_version(**set, &slot_cache, known.version.sequence, false).code(), EPERM);
    EXPECT_NE(std::string(last_detail()).find("one host's part"), std::string::npos);
  }
  EXPECT_TRUE(drop_version(**set, &slot_cache, manifests->head()->version.sequence, true).ok())
      << last_detail();
}

// A leader that cannot decide on its version still ends what all leaders have begun.
TEST_F(KilledNodes, AnswersAreFinishedWhateverBecameOfTheVersion) {
  Network network(uuids_of(pools_.systems(three_pools)));
  const auto key = draw_uuid();
  ASSERT_TRUE(key.ok());
  test::with_ranks(three_nodes, [&](uint32_t node) {
    Node exchange(&network, node, 0);
    const auto set = SetFile::open_or_make(pools_.fs(node), "field", Uuid{1});
    ASSERT_TRUE(set.ok()) << last_detail();
    SlotCache slot_cache((*set)->fs(), (*set)->directory());
    RunMember member;
    member.key = *key;
    member.exchange = &exchange;
    member.numbers = {node};
    member.all_ranks = three_nodes;
    const auto run = Run::begin(**set, member, [&] { return prepare_set(**set, &slot_cache); });
    ASSERT_TRUE(run.ok()) << last_detail();
    DueVote due_vote(&**run, 0);
    due_vote.proceed_with([&] { return node == 1 ? Status(EIO) : Status(); });
    for (int64_t step = 1; step <= 2 * static_cast<int64_t>(DueVote::lag); ++step)
      EXPECT_EQ(due_vote.need(step).code(), 0) << "node " << node << ", step " << step;
    EXPECT_TRUE(due_vote.finish().ok());
    EXPECT_EQ(exchange.is_under_way[1], 0) << "node " << node;
    exchange.die();
  });
}

}  // namespace
}  // namespace cairn::checkpoint
