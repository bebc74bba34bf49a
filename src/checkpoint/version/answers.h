// Answers: is a checkpoint due? The first rank that asks at a call decides for all ranks of the
// node, and the others read what it said.
#pragma once

#include "checkpoint/version/run.h"

namespace cairn::checkpoint {

class Answers {
 public:
  // `interval_ns` since the last version began; 0: never by time.
  Answers(Run* run, uint64_t interval_ns)
      : run_(*run), words_(run->words()), interval_ns_(interval_ns) {}

  // Waits only for a rank that is more than 63 calls behind. EINVAL: another rank asks with another
  // step at this call. EOWNERDEAD.
  Result<bool> need(int64_t step);
  // A version begins: the next one is due after the interval.
  void note_version();

 private:
  Status wait_for_the_slowest();
  bool decide();

  Run& run_;
  const RunWords& words_;
  uint64_t interval_ns_;
  uint64_t calls_ = 0;
};

}  // namespace cairn::checkpoint
