#include "cluster/mpi/ranks/roster.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

namespace cairn::mpi {
namespace {

cairn_node node_named(int number) {
  cairn_node node = {};
  node.uuid[0] = static_cast<uint8_t>(200 - number);  // another order than that of the ranks
  std::snprintf(node.host, sizeof node.host, "node%d", number);
  std::snprintf(node.pool, sizeof node.pool, "/dev/shm/pool%d", number);
  return node;
}

Card card_of(int rank, int node) { return {node_named(node), rank, 1000 + rank, 1, 1, 1, 1, {}}; }

Bytes told_by(const std::vector<std::vector<Card>>& hosts) {
  Bytes all;
  for (const auto& host : hosts) {
    const Bytes one = introduce(host);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

TEST(Roster, OneNodeIsNoRoster) {
  EXPECT_TRUE(gather_roster(told_by({{card_of(0, 0), card_of(1, 0)}})).one_node);
  // Also where the MPI takes it for two.
  EXPECT_TRUE(gather_roster(told_by({{card_of(0, 0)}, {card_of(1, 0)}})).one_node);
}

TEST(Roster, RanksInBlocksAndInTurns) {
  for (const bool blocks : {true, false}) {
    constexpr int nodes = 5;
    constexpr int ranks = 20;
    std::vector<std::vector<Card>> hosts(nodes);
    const auto place = [&](int rank) { return blocks ? rank / (ranks / nodes) : rank % nodes; };
    for (int rank = 0; rank < ranks; ++rank)
      hosts[static_cast<size_t>(place(rank))].push_back(card_of(rank, place(rank)));
    const Gathered gathered = gather_roster(told_by(hosts));
    EXPECT_FALSE(gathered.one_node);
    EXPECT_EQ(gathered.refused, "");
    const Roster roster(gathered.roster.data());
    ASSERT_EQ(roster.count(), nodes);
    for (int node = 0; node < nodes; ++node) {
      const auto number = static_cast<uint32_t>(node);
      EXPECT_STREQ(roster.node(number).host, node_named(node).host);
      EXPECT_EQ(place(roster.leader(number)), node);
      EXPECT_EQ(roster.number_of(node_named(node).uuid), number);
    }
    for (int rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(roster.node_of(rank), static_cast<uint32_t>(place(rank)));
    EXPECT_EQ(roster.node_of(ranks), roster.count());
    EXPECT_EQ(roster.number_of(node_named(nodes).uuid), roster.count());
  }
}

TEST(Roster, GrowsWithTheNodesOnly) {
  const auto bytes = [](int ranks_per_node) {
    std::vector<std::vector<Card>> hosts(10);
    for (int rank = 0; rank < 10 * ranks_per_node; ++rank)
      hosts[static_cast<size_t>(rank / ranks_per_node)].push_back(
          card_of(rank, rank / ranks_per_node));
    return gather_roster(told_by(hosts)).roster.size();
  };
  EXPECT_EQ(bytes(2), bytes(100));
}

TEST(Roster, RanksInNoOrder) {
  const int places[] = {2, 0, 0, 1, 2, 0, 1, 1, 0, 2};
  std::vector<std::vector<Card>> hosts(3);
  for (int rank = 0; rank < 10; ++rank)
    hosts[static_cast<size_t>(places[rank])].push_back(card_of(rank, places[rank]));
  const Gathered gathered = gather_roster(told_by(hosts));
  const Roster roster(gathered.roster.data());
  ASSERT_EQ(roster.count(), 3U);
  EXPECT_STREQ(roster.node(0).host, "node2");  // by their first ranks
  for (int rank = 0; rank < 10; ++rank)
    EXPECT_STREQ(roster.node(roster.node_of(rank)).host, node_named(places[rank]).host);
}

TEST(Roster, SeveralPoolsOnAHostAndOneSeenAsTwoHosts) {
  const Gathered gathered =
      gather_roster(told_by({{card_of(0, 0), card_of(1, 1)}, {card_of(2, 1), card_of(3, 0)}}));
  const Roster roster(gathered.roster.data());
  ASSERT_EQ(roster.count(), 2U);
  EXPECT_EQ(roster.leader(0), 0);
  EXPECT_EQ(roster.leader(1), 1);
  EXPECT_EQ(roster.node_of(2), 1U);
  EXPECT_EQ(roster.node_of(3), 0U);
}

TEST(Roster, SaysWhyNot) {
  Card without = card_of(1, 1);
  std::memset(without.node.uuid, 0, sizeof without.node.uuid);
  without.attached = 0;
  EXPECT_EQ(gather_roster(told_by({{card_of(0, 0)}, {without}})).refused,
            "host node1 has no pool: start it as mpirun ... cairn run ... program");
  Card single = card_of(1, 1);
  single.threads = 0;
  EXPECT_EQ(gather_roster(told_by({{card_of(0, 0)}, {single}})).refused,
            "this MPI gives no MPI_THREAD_MULTIPLE, which files on several hosts need");
}

}  // namespace
}  // namespace cairn::mpi
