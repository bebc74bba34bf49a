#include "pool/core/lock_word.h"

namespace cairn::pool {
namespace {

constexpr uint64_t generation_mask = (1U << 24) - 1;
constexpr uint64_t attach_mask = (1U << 20) - 1;
constexpr unsigned attach_shift = 38;

}  // namespace

uint32_t lane_of(uint64_t lock_word) { return (lock_word >> 1) & 0x3ff; }

uint64_t make_lock_word(const Pool& pool, uint32_t lane, uint64_t lane_generation, uint32_t seat) {
  return 1 | static_cast<uint64_t>(lane) << 1 | static_cast<uint64_t>(seat) << 11 |
         (lane_generation & generation_mask) << 14 |
         (pool.attach_generation & attach_mask) << attach_shift;
}

bool names(uint64_t lock_word, uint32_t lane, uint64_t lane_generation, uint32_t seat) {
  return (lock_word & ((1ULL << attach_shift) - 1)) ==
         (1 | static_cast<uint64_t>(lane) << 1 | static_cast<uint64_t>(seat) << 11 |
          (lane_generation & generation_mask) << 14);
}

bool is_void(const Pool& pool, uint64_t lock_word) {
  if (lock_word == 0) return true;
  const uint32_t lane = lane_of(lock_word);
  if (lane >= pool.lane_count) return true;
  const uint64_t now = pool.lanes[lane].generation.load();
  return ((lock_word >> 14) & generation_mask) != (now & generation_mask) ||
         ((lock_word >> attach_shift) & attach_mask) != (pool.attach_generation & attach_mask);
}

}  // namespace cairn::pool
