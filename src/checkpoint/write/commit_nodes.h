// CommitNodes: the messages by which the leaders of several nodes decide on a version. Each leader
// sends what its node has prepared. When all have prepared, each decides on its medium and sends
// its decision. So a node sends two messages of fixed size and receives as many from each other
// node, whatever the number of ranks and variables.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/saved_failure.h"
#include "checkpoint/run/exchange.h"
#include "checkpoint/store/records.h"

namespace cairn::checkpoint {

// A node's message about its part.
struct NodePrepared {
  PartRecord part;  // with the errno that kept the node from preparing it
  uint64_t sequence;
  uint64_t begun;
  uint32_t common_crc;   // of the fields that all VERSIONs have in common
  uint32_t failed_rank;  // the rank that the error belongs to
  uint32_t is_copying;   // an older version to lower
  uint8_t reserved[36];
};
static_assert(sizeof(NodePrepared) == 320);

// A node's message that it has decided, or why it could not.
struct NodeDecided {
  int32_t error;
  uint32_t rank;
};
static_assert(sizeof(NodeDecided) == 8);

struct NodesVerdict {
  int error = 0;      // 0: the version is committed on all nodes
  uint32_t rank = 0;  // the rank that the error belongs to
  uint64_t bytes = 0;
  uint64_t begun = 0;
  bool is_copying = false;  // a node still copies an older version to lower
};

class CommitNodes {
 public:
  // Stores the parts of all nodes and decides, durably.
  using Decide = std::function<Status(const std::vector<PartRecord>& parts)>;

  explicit CommitNodes(Exchange* exchange) : exchange_(exchange) {}

  [[nodiscard]] bool is_under_way() const { return step_ != Step::none; }
  // Starts the exchange. This node's part is durable, or contains its error.
  Status begin(const NodePrepared& own);
  // Makes progress without waiting. Returns true when the exchange is over, with the result in
  // `verdict`, until end_commit(). After an error of the exchange all further calls return that
  // error: a leader that sent another message would send it for another version.
  Result<bool> proceed(const Decide& decide, NodesVerdict* verdict);
  // Ends the exchange; the caller has acted on the verdict.
  void end_commit() { step_ = Step::none; }

 private:
  enum class Step : uint8_t { none, preparing, deciding, judged };
  Result<bool> try_to_proceed(const Decide& decide);
  Status keep(const Status& status);
  void judge_parts();
  void judge_decisions();

  Exchange* exchange_;
  Step step_ = Step::none;
  NodePrepared prepared_{};
  std::vector<NodePrepared> all_prepared_;
  NodeDecided decided_{};
  std::vector<NodeDecided> all_decided_;
  NodesVerdict verdict_;
  SavedFailure failed_;  // an error of the exchange
};

}  // namespace cairn::checkpoint
