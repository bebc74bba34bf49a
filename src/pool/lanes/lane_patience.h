// LanePatience: a process that finds no free lane retries for a while, because processes come and
// go.
//
// No process waits with a lock that others need to leave: an attach releases the attach lock in
// between, and a thread that is inside a call already does not wait at all. A process that has
// waited in vain fails immediately from then on, until it gets a lane: otherwise each of its calls
// would wait anew.
#pragma once

#include <chrono>

#include "pool/core/pool.h"

namespace cairn::pool {

inline constexpr std::chrono::seconds lane_patience{10};

class LanePatience {
 public:
  explicit LanePatience(const Pool& pool) : pool_(pool) {}
  // Pauses after a failure, and returns true if the caller is to try again.
  bool goes_on(const Status& failure);

 private:
  const Pool& pool_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::milliseconds pause_{1};
};

// Records that the process has a lane now, and may wait again for another.
void note_lane_taken(const Pool& pool);

}  // namespace cairn::pool
