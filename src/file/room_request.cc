#include "file/room_request.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/coarse_clock.h"

namespace cairn::file {
namespace {

constexpr uint64_t second = 1'000'000'000;
// A keeper's longest system call is an fsync in lower.
constexpr uint64_t promise_ns = 15 * second;
// A call waits no longer, whatever the keeper does.
constexpr uint64_t longest_ns = 60 * second;
constexpr std::chrono::milliseconds pause(5);
// After a search in vain, the next one may have to wait for a moment (Lower::evict_some).
constexpr uint64_t last_tries_ns = second / 4;

void raise(Pool& pool, Word& word, uint64_t value) {
  uint64_t held = word.load();
  while (held < value && !pool.compare_exchange(word, held, value)) {
  }
}

}  // namespace

bool ask_keeper_for_room(FileSystem& fs, const std::function<bool()>& try_to_evict) {
  Pool& pool = fs.pool;
  if (pool.read_only || fs.keeps_room.load(std::memory_order_relaxed)) return false;
  const uint64_t request = fine_monotonic_ns();
  uint64_t now = request;
  uint64_t end = request + longest_ns;
  raise(pool, pool.state->room_wanted, request);
  while (now < end && now < pool.state->keeper_until.load()) {
    if (try_to_evict()) return true;
    if (pool.state->room_answered.load() >= request) end = std::min(end, now + last_tries_ns);
    std::this_thread::sleep_for(pause);
    now = fine_monotonic_ns();
  }
  return false;
}

uint64_t promise_room(FileSystem& fs) {
  Pool& pool = fs.pool;
  fs.keeps_room.store(true, std::memory_order_relaxed);
  pool.store(pool.state->keeper_until, fine_monotonic_ns() + promise_ns);
  return is_room_wanted(pool) ? pool.state->room_wanted.load() : 0;
}

bool is_room_wanted(const Pool& pool) {
  return pool.state->room_wanted.load() > pool.state->room_answered.load();
}

void answer_room(Pool& pool, uint64_t request) {
  raise(pool, pool.state->room_answered, request);
}

void end_promise(Pool& pool) { pool.store(pool.state->keeper_until, 0); }

}  // namespace cairn::file
