// HeldLanes: the lanes that this process holds; [0] is its first. One thread at a time adds one
// (Pool::adding_lane) while others read: an entry is complete before it counts, and stays where it
// is.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <utility>

#include "media/liveness.h"

namespace cairn::pool {

inline constexpr uint32_t max_local_lanes = 32;

struct HeldLane {
  uint32_t number = 0;
  media::LivenessLock lock;
};

class HeldLanes {
 public:
  [[nodiscard]] uint32_t size() const { return count_.load(std::memory_order_acquire); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const HeldLane& front() const { return lane_[0]; }
  [[nodiscard]] const HeldLane* begin() const { return lane_.data(); }
  [[nodiscard]] const HeldLane* end() const { return lane_.data() + size(); }
  [[nodiscard]] HeldLane* begin() { return lane_.data(); }
  [[nodiscard]] HeldLane* end() { return lane_.data() + size(); }

  void add(HeldLane lane) {
    const uint32_t count = size();
    assert(count < max_local_lanes);
    lane_[count] = std::move(lane);
    count_.store(count + 1, std::memory_order_release);
  }
  // Removes all lanes; no thread may be reading.
  void clear() {
    for (HeldLane& lane : *this) lane = HeldLane();
    count_.store(0, std::memory_order_release);
  }

 private:
  std::array<HeldLane, max_local_lanes> lane_;
  std::atomic<uint32_t> count_{0};
};

}  // namespace cairn::pool
