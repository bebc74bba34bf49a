// Answers: is a checkpoint due? On one node the first rank that asks at a call decides, and the
// others read what it said. On several nodes the leaders tell each other at every `lag`-th call
// whether one is due, and what they come to holds `lag` calls later.
#pragma once

#include <functional>
#include <vector>

#include "checkpoint/run/run.h"

namespace cairn::checkpoint {

class Answers {
 public:
  // `interval_ns` since the last version began; 0: never by time.
  Answers(Run* run, uint64_t interval_ns)
      : run_(*run), words_(run->words()), interval_ns_(interval_ns) {}

  static constexpr uint64_t lag = 4;
  // What else a leader of several nodes goes on with, while it waits. Its errors are not this
  // object's: whoever asks for what it works on is told of them.
  void proceed_with(std::function<Status()> work) { work_ = std::move(work); }

  // Waits only for a rank that is more than 63 calls behind; with several nodes, for one that is
  // more than `lag` calls behind. EINVAL: another rank asks with another step at this call.
  // EOWNERDEAD.
  Result<bool> need(int64_t step);
  // A leader of several nodes waits for what it has begun: the other leaders have, too, and the
  // messages must not arrive in memory that is gone.
  Status finish();
  // A version begins: the next one is due after the interval.
  void note_version();

 private:
  // What a node tells the others at a call.
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
