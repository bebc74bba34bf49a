// DueVote: decides whether a checkpoint is due. On one node the first rank that asks at a call
// decides, and the others read its answer. On several nodes the leaders tell each other at every
// `lag`-th call whether one is due, and their result holds `lag` calls later.
#pragma once

#include <functional>
#include <vector>

#include "checkpoint/run/run.h"

namespace cairn::checkpoint {

class DueVote {
 public:
  // A checkpoint is due `interval_ns` after the last version began; 0: never by time.
  DueVote(Run* run, uint64_t interval_ns)
      : run_(*run), words_(run->words()), interval_ns_(interval_ns) {}

  static constexpr uint64_t lag = 4;
  // Sets further work for a leader of several nodes to do while it waits. Errors of this work are
  // not returned here, but to the callers that ask for its result.
  void proceed_with(std::function<Status()> work) { work_ = std::move(work); }

  // Answers the question at this call. Waits only for a rank that is more than 63 calls behind;
  // with several nodes, for one that is more than `lag` calls behind. EINVAL: another rank asks
  // with another step at this call. EOWNERDEAD.
  Result<bool> need(int64_t step);
  // Waits for the gathers that a leader of several nodes has begun: the other leaders have begun
  // them too, and messages must not arrive in freed memory.
  Status finish();
  // Records that a version begins: the next one is due after the interval.
  void note_version();

 private:
  // The message of a node to the others at a call.
  struct NodeWish {
    uint64_t call;
    uint64_t check;  // of the step
    uint64_t is_due;
  };

  Status wait_for_the_slowest();
  bool decide();
  Result<bool> need_of_node(int64_t step);
  Result<bool> need_of_nodes(int64_t step);
  Status begin_gather(int64_t step);
  Result<bool> test_gather();
  void say(uint64_t call, uint64_t answer);

  Run& run_;
  const RunWords& words_;
  uint64_t interval_ns_;
  uint64_t calls_ = 0;
  std::function<Status()> work_;
  bool is_gathering_ = false;
  NodeWish wish_{};
  std::vector<NodeWish> wishes_;
};

}  // namespace cairn::checkpoint
