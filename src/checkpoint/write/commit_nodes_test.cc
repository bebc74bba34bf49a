#include "checkpoint/write/commit_nodes.h"

#include <gtest/gtest.h>

#include <cstring>

#include "checkpoint/array/box_table.h"
#include "checkpoint/layout/contents.h"
#include "checkpoint/store/manifest.h"
#include "support/made_decompositions.h"

namespace cairn::checkpoint {
namespace {

// A node of a run; a function supplies the messages of the other nodes. Counts the messages that
// this node sends and receives.
class CountedExchange : public Exchange {
 public:
  // Stores the message of `node` in place of this node's bytes.
  using Other = std::function<void(uint32_t node, void* bytes, size_t size)>;
  CountedExchange(uint32_t nodes, uint32_t own, Other other)
      : nodes_(nodes), own_(own), other_(std::move(other)) {}

  [[nodiscard]] uint32_t node() const override { return own_; }
  [[nodiscard]] uint32_t nodes() const override { return nodes_; }
  [[nodiscard]] std::string name_of(uint32_t node) const override {
    return "node " + std::to_string(node);
  }
  [[nodiscard]] Uuid pool_of(uint32_t) const override { return {}; }
  void serve_with(Serve) override {}
  Status begin_gather(Channel, const void* bytes, size_t size, void* all) override {
    ++messages;
    if (messages == fails_at) return fail(EIO, "a message is lost");
    sent += size;
    received += size * nodes_;
    for (uint32_t node = 0; node < nodes_; ++node) {
      uint8_t* const to = static_cast<uint8_t*>(all) + size * node;
      std::memcpy(to, bytes, size);
      if (node != own_ && other_) other_(node, to, size);
    }
    waits = 1;
    return Status();
  }
  Result<bool> test_gather(Channel) override { return waits-- <= 0; }
  Result<size_t> ask(uint32_t, const void*, size_t, void*, size_t) override {
    return fail(ENOSYS, "nobody is asked");
  }
  void progress() override {}
  Status gather_to_all(const void*, size_t, void*) override { return Status(ENOSYS); }
  Result<int64_t> maximum(int64_t value) override { return value; }

  uint64_t messages = 0;
  uint64_t fails_at = 0;  // the message that cannot be sent; 0: none
  uint64_t sent = 0;
  uint64_t received = 0;
  int waits = 0;

 private:
  uint32_t nodes_;
  uint32_t own_;
  Other other_;
};

NodePrepared prepared_of(uint32_t node, uint32_t ranks) {
  NodePrepared prepared{};
  prepared.part.first = node * ranks;
  prepared.part.stride = 1;
  prepared.part.count = ranks;
  prepared.part.bytes = 100;
  prepared.sequence = 7;
  prepared.begun = 1000 + node;
  prepared.common_crc = 5;
  seal_part(&prepared.part);
  return prepared;
}

// The result of the nodes of `exchange`, and the parts that this one stores.
struct Came {
  NodesVerdict verdict;
  std::vector<PartRecord> parts;
};
Came commit(CountedExchange* exchange, uint32_t ranks, Status decided = Status()) {
  CommitNodes nodes(exchange);
  Came came;
  EXPECT_TRUE(nodes.begin(prepared_of(exchange->node(), ranks)).ok());
  for (int i = 0; i < 10 && nodes.is_under_way(); ++i) {
    const auto is_over = nodes.proceed(
        [&](const std::vector<PartRecord>& parts) {
          came.parts = parts;
          return decided;
        },
        &came.verdict);
    EXPECT_TRUE(is_over.ok());
    if (*is_over) nodes.end_commit();
  }
  EXPECT_FALSE(nodes.is_under_way());
  return came;
}

// Returns the messages of nodes that prepare their parts and decide regularly.
CountedExchange::Other all_right(uint32_t ranks) {
  return [ranks](uint32_t node, void* bytes, size_t size) {
    if (size != sizeof(NodePrepared)) return;
    const NodePrepared prepared = prepared_of(node, ranks);
    std::memcpy(bytes, &prepared, size);
  };
}

TEST(CommitNodes, AllNodesStoreTheSameParts) {
  CountedExchange exchange(3, 1, all_right(4));
  const Came came = commit(&exchange, 4);
  EXPECT_EQ(came.verdict.error, 0);
  EXPECT_EQ(came.verdict.bytes, 300U);
  EXPECT_EQ(came.verdict.begun, 1000U) << "the first node's";
  ASSERT_EQ(came.parts.size(), 3U);
  for (uint32_t node = 0; node < 3; ++node) EXPECT_EQ(came.parts[node].first, 4 * node);
}

TEST(CommitNodes, AnErrorOfOneNodeIsThatOfAll) {
  CountedExchange exchange(3, 1, [](uint32_t node, void* bytes, size_t size) {
    NodePrepared prepared = prepared_of(node, 4);
    prepared.part.error = node == 2 ? ENOSPC : 0;
    prepared.failed_rank = node == 2 ? 9 : 0;
    seal_part(&prepared.part);
    std::memcpy(bytes, &prepared, size);
  });
  const Came came = commit(&exchange, 4);
  EXPECT_EQ(came.verdict.error, ENOSPC);
  EXPECT_EQ(came.verdict.rank, 9U);
  EXPECT_TRUE(came.parts.empty()) << "nothing is decided on";
  EXPECT_EQ(exchange.messages, 1U);
}

TEST(CommitNodes, AnErrorOfOneNodeIsANumberOfErrno) {
  for (const uint32_t wrong : {0x7fffffffU, 0x80000000U, 0xffffffffU, 70000U}) {
    CountedExchange prepares(3, 1, [wrong](uint32_t node, void* bytes, size_t) {
      const NodePrepared prepared = prepared_of(node, 4);
      std::memcpy(bytes, &prepared, sizeof prepared);
      if (node == 2) static_cast<NodePrepared*>(bytes)->part.error = wrong;
    });
    EXPECT_EQ(commit(&prepares, 4).verdict.error, EPROTO) << wrong;
    CountedExchange decides(3, 1, [wrong](uint32_t node, void* bytes, size_t size) {
      all_right(4)(node, bytes, size);
      if (size == sizeof(NodeDecided))
        *static_cast<NodeDecided*>(bytes) = {node == 2 ? static_cast<int32_t>(wrong) : 0, 0};
    });
    EXPECT_EQ(commit(&decides, 4).verdict.error, EPROTO) << wrong;
  }
}

TEST(CommitNodes, NodesThatSayDifferentThingsCommitNothing) {
  for (const int what : {0, 1, 2}) {
    CountedExchange exchange(3, 1, [what](uint32_t node, void* bytes, size_t size) {
      NodePrepared prepared = prepared_of(node, 4);
      if (node == 2 && what == 0) prepared.sequence = 8;
      if (node == 2 && what == 1) prepared.common_crc = 6;
      if (node == 2 && what == 2) prepared.part.crc ^= 1;
      std::memcpy(bytes, &prepared, size);
    });
    const Came came = commit(&exchange, 4);
    EXPECT_EQ(came.verdict.error, EINVAL) << what;
    EXPECT_EQ(came.verdict.rank, 8U);
    EXPECT_TRUE(came.parts.empty());
  }
}

TEST(CommitNodes, ADecisionThatCouldNotBeStoredIsToldToAll) {
  CountedExchange failing(3, 1, all_right(4));
  const Came own = commit(&failing, 4, Status(EIO));
  EXPECT_EQ(own.verdict.error, EIO);
  EXPECT_EQ(own.verdict.rank, 4U);
  CountedExchange exchange(3, 1, [](uint32_t node, void* bytes, size_t size) {
    all_right(4)(node, bytes, size);
    if (size == sizeof(NodeDecided)) *static_cast<NodeDecided*>(bytes) = {node == 0 ? EIO : 0, 0};
  });
  const Came other = commit(&exchange, 4);
  EXPECT_EQ(other.verdict.error, EIO);
  EXPECT_EQ(other.verdict.rank, 0U);
  EXPECT_EQ(other.parts.size(), 3U);
}

// A leader that fails to get a lock must still keep the verdict.
TEST(CommitNodes, AVerdictStaysUntilTheCommitEnds) {
  for (const int error : {0, ENOSPC}) {
    CountedExchange exchange(3, 1, [error](uint32_t node, void* bytes, size_t size) {
      all_right(4)(node, bytes, size);
      if (size == sizeof(NodeDecided))
        *static_cast<NodeDecided*>(bytes) = {node == 2 ? error : 0, 8};
    });
    CommitNodes nodes(&exchange);
    ASSERT_TRUE(nodes.begin(prepared_of(1, 4)).ok());
    int decisions = 0;
    const auto decide = [&](const std::vector<PartRecord>&) {
      ++decisions;
      return Status();
    };
    int judged = 0;
    for (int i = 0; i < 10; ++i) {
      NodesVerdict verdict;
      const auto is_over = nodes.proceed(decide, &verdict);
      ASSERT_TRUE(is_over.ok()) << last_detail();
      if (!*is_over) continue;
      ++judged;
      EXPECT_EQ(verdict.error, error);
      EXPECT_EQ(verdict.bytes, 300U);
      EXPECT_TRUE(nodes.is_under_way());
    }
    EXPECT_GT(judged, 2);
    EXPECT_EQ(decisions, 1);
    EXPECT_EQ(exchange.messages, 2U);
    nodes.end_commit();
    EXPECT_FALSE(nodes.is_under_way());
  }
}

TEST(CommitNodes, AnErrorOfTheExchangeStays) {
  for (const uint64_t at : {1U, 2U}) {
    CountedExchange exchange(3, 1, all_right(4));
    exchange.fails_at = at;
    CommitNodes nodes(&exchange);
    const Status begun = nodes.begin(prepared_of(1, 4));
    EXPECT_EQ(begun.code(), at == 1 ? EIO : 0);
    int decisions = 0;
    bool has_failed = !begun.ok();
    for (int i = 0; i < 10; ++i) {
      NodesVerdict verdict;
      const auto is_over = nodes.proceed(
          [&](const std::vector<PartRecord>&) {
            ++decisions;
            return Status();
          },
          &verdict);
      has_failed = has_failed || !is_over.ok();
      if (has_failed) {
        EXPECT_EQ(is_over.code(), EIO) << "at message " << at << ", call " << i;
        EXPECT_STREQ(last_detail(), "a message is lost");
      }
    }
    EXPECT_TRUE(has_failed);
    EXPECT_EQ(nodes.begin(prepared_of(1, 4)).code(), EIO);
    EXPECT_EQ(exchange.messages, at);
    EXPECT_EQ(decisions, at == 1 ? 0 : 1);
  }
}

TEST(CommitNodes, MessagesGrowWithNodesOnly) {
  struct Cost {
    uint64_t messages;
    uint64_t sent;
    uint64_t received;
    bool operator==(const Cost&) const = default;
  };
  const auto cost_of = [](uint32_t nodes, uint32_t ranks) {
    CountedExchange exchange(nodes, nodes - 1, all_right(ranks));
    EXPECT_EQ(commit(&exchange, ranks).verdict.error, 0);
    return Cost{exchange.messages, exchange.sent, exchange.received};
  };
  const Cost one = cost_of(8, 1);
  EXPECT_EQ(one, (Cost{2, 328, uint64_t{8} * 328}));
  EXPECT_EQ(cost_of(8, 128), one);
  EXPECT_EQ(cost_of(16, 1), (Cost{2, 328, uint64_t{16} * 328}));
}

// 5000 nodes with 128 ranks each, 280 variables of a grid of 640,000 blocks.
TEST(CommitNodes, AModelOf640000Ranks) {
  constexpr uint32_t nodes = 5000;
  constexpr uint32_t on_node = 128;
  constexpr uint32_t ranks = nodes * on_node;
  constexpr uint32_t wide = 800;
  std::vector<uint8_t> boxes;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    Box box{3, {}, {}};
    box.offset = {rank / wide * 4, rank % wide * 5, 0};
    box.count = {4, 5, 10};
    append_box(&boxes, rank, box);
  }
  auto grid = make_boxes(ranks, whole_of(3, {uint64_t{4} * (ranks / wide), uint64_t{5} * wide, 10}),
                         Owner::nobody, boxes);
  ASSERT_TRUE(grid.ok()) << last_detail();
  EXPECT_LT(grid->record().size(), 256U) << "a formula, not a box a rank";
  LayoutDefinition definition;
  definition.ranks = ranks;
  for (int i = 0; i < 280; ++i) {
    VariableDefinition variable;
    variable.name = "variable " + std::to_string(i);
    variable.type = Type::float64;
    variable.element_size = 8;
    variable.dimensions = 3;
    variable.order = plain_order();
    variable.decomposition = grid->hash();
    definition.variables.push_back(variable);
  }
  auto layout = Layout::make(definition);
  ASSERT_TRUE(layout.ok()) << last_detail();
  EXPECT_LT(layout->record().size(), 64U << 10);
  std::vector<Decomposition> decompositions;
  decompositions.push_back(std::move(*grid));
  const auto contents = Contents::make(std::move(*layout), std::move(decompositions));
  ASSERT_TRUE(contents.ok()) << last_detail();

  // The amount that a node stores and sends for a version does not depend on its number.
  for (const uint32_t node : {0U, 4321U}) {
    std::vector<uint32_t> its;
    for (uint32_t i = 0; i < on_node; ++i) its.push_back(node * on_node + i);
    const auto regions = place_regions(*contents, its);
    ASSERT_TRUE(regions.ok()) << last_detail();
    EXPECT_EQ(regions->bytes[0], uint64_t{280} * 4 * 5 * 10 * 8);
    EXPECT_EQ(regions->end, (on_node + 1) * region_unit);
    const auto shape = shape_of(on_node, 0, nodes);
    ASSERT_TRUE(shape.ok()) << last_detail();
    EXPECT_LT(shape->length, uint64_t{2} << 20);
    CountedExchange exchange(nodes, node, all_right(on_node));
    const Came came = commit(&exchange, on_node);
    EXPECT_EQ(came.verdict.error, 0);
    EXPECT_EQ(came.parts.size(), nodes);
    EXPECT_EQ(exchange.messages, 2U);
    EXPECT_EQ(exchange.sent, 328U);
    EXPECT_EQ(exchange.received, uint64_t{nodes} * 328);
  }
}

}  // namespace
}  // namespace cairn::checkpoint
