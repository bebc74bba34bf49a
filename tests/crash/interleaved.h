// Two calls of two processes that overlap: every switch between them at a store, with crashes, and
// with one of them killed while the other lives on.
#pragma once

#include <string>
#include <vector>

#include "crash/crash_lab.h"
#include "crash/turns.h"

namespace cairn::test {

struct Pair {
  const char* name;
  // Called in each process before the calls, for descriptors; the calls may fail (ENOENT, ...).
  void (*call[2])(cairn_pool* pool);
  bool bytes = false;  // part of the bytes may be there if a call has not returned
  // After the usual files are there, if there is to be more.
  void (*prepare)(CrashLab& lab) = nullptr;
  // Of two of which one is killed the other maps this file in the end, and detaches while a child
  // of it keeps the mapping; null: it stays attached.
  const char* mapped = nullptr;
};

const std::vector<Pair>& all_pairs();

// What the tree may look like: after neither, one or both calls, in either order.
class Outcomes {
 public:
  Outcomes(const Pair& pair, const LabOptions& options);
  // Could `found` be a state in which call `i` has (`returned`), may have, or has not (`!begun`)
  // happened?
  [[nodiscard]] std::string judge(const Snapshot& found, const bool (&begun)[2],
                                  const bool (&returned)[2]) const;

 private:
  Snapshot neither_;
  Snapshot only_[2];
  Snapshot both_[2];  // [i]: call i first
  bool bytes_;
};

struct Overlap {
  std::string wrong;    // "" if all was well
  uint64_t events = 0;  // of the call that came first, had it not been interrupted
  bool died = false;    // kill_first: before it returned
};

// The first call (of process `first`) is interrupted after `events` of its events by the other one,
// which runs to its end or until it has to wait; then a crash at every fence.
Overlap interrupt(const Pair& pair, const Outcomes& outcomes, const LabOptions& options, int first,
                  uint64_t events, uint64_t other_events, uint64_t* images);
// The same, but the first one is killed there, and the other one lives on.
Overlap kill_one(const Pair& pair, const Outcomes& outcomes, const LabOptions& options, int first,
                 uint64_t events);

}  // namespace cairn::test
