#include "pool/lanes/lane_patience.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace cairn::pool {

namespace {

// The serial of the pool that this process has waited for in vain last; a forked child inherits
// that.
std::atomic<uint64_t> in_vain{0};

}  // namespace

void note_lane_taken(const Pool& pool) {
  if (in_vain.load(std::memory_order_relaxed) == pool.serial)
    in_vain.store(0, std::memory_order_relaxed);
}

bool LanePatience::goes_on(const Status& failure) {
  if (failure.code() != EBUSY || in_vain.load(std::memory_order_relaxed) == pool_.serial)
    return false;
  if (std::chrono::steady_clock::now() - begun_ >= lane_patience) {
    in_vain.store(pool_.serial, std::memory_order_relaxed);
    return false;
  }
  // Processes do not retry in step: one that takes a lane looks at all of them.
  constexpr std::chrono::milliseconds longest{50};
  usleep(static_cast<useconds_t>(pause_.count() * 1000 + getpid() % 16 * 100));
  pause_ = std::min(pause_ * 2, longest);
  return true;
}

}  // namespace cairn::pool
