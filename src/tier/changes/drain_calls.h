// The options and the results of a drain.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_set>

#include "tier/record/drain_mode.h"

namespace cairn::tier {

struct DrainReport {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t removed = 0;
  uint64_t directories = 0;
  uint64_t conflicts = 0;
  uint64_t failed = 0;
  uint64_t waiting = 0;  // files of which other nodes still hold parts (cluster/collect/collect.h)
  uint64_t postponed = 0;        // regular files left for a later drain (WhileRunning)
  uint64_t postponed_bytes = 0;  // that a drain would write for them
};

// WhileRunning says which files a drain leaves to a later one because programs still use them.
struct WhileRunning {
  uint64_t quiet_ns = 0;                   // drains a file that has not changed for so long
  bool only_closed = true;                 // and that no process has open, in any mode
  DrainMode otherwise = DrainMode::close;  // of names that have no mode, nor a directory with one
  // The run has ended: files of mode `exit` are drained as well, quiet and closed or not.
  bool at_end = false;
};

struct DrainCalls {
  std::optional<WhileRunning> while_running = {};  // none: everything is drained
  // Inodes of files, and of all directories on the way to them: the rest is left to a later drain.
  // Null: everything.
  const std::unordered_set<uint64_t>* only = nullptr;
  std::function<bool(uint64_t done, uint64_t total)> progress;  // false: stop
  std::function<void(const char* text)> problem;
};

}  // namespace cairn::tier
