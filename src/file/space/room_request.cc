#include "file/space/room_request.h"

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
// What was open or being written when the keeper looked may be closed a moment later: ranks of a
// job close their files one after the other.
constexpr int most_asks = 4;

void raise(Pool& pool, Word& word, uint64_t value) {
  uint64_t held = word.load();
  while (held < value && !pool.compare_exchange(word, held, value)) {
  }
}

enum class Outcome : uint8_t { evicted, in_vain, unanswered };

// One request. A search that begins after the answer decides: one that began before may have passed
// by a file that was drained meanwhile.
Outcome ask_once(Pool& pool, uint64_t deadline, const TryToEvict& try_to_evict) {
  const uint64_t request = fine_monotonic_ns();
  raise(pool, pool.state->room_wanted, request);
  uint64_t end = deadline;
  for (uint64_t now = request; now < deadline; now = fine_monotonic_ns()) {
    const bool answered = pool.state->room_answered.load() >= request;
    if (!answered && now >= pool.state->keeper_until.load()) return Outcome::unanswered;
    if (try_to_evict(answered)) return Outcome::evicted;
    if (answered) {
      now = fine_monotonic_ns();
      if (now >= end) return Outcome::in_vain;
      if (end == deadline) end = now + last_tries_ns;
    }
    std::this_thread::sleep_for(pause);
  }
  return Outcome::unanswered;
}

}  // namespace

bool ask_keeper_for_room(FileSystem& fs, const TryToEvict& try_to_evict) {
  Pool& pool = fs.pool;
  if (pool.read_only || fs.keeps_room.load(std::memory_order_relaxed)) return false;
  const uint64_t deadline = fine_monotonic_ns() + longest_ns;
  for (int asks = 0; asks < most_asks;) {
    const uint64_t evictions = pool.state->evictions.load();
    const Outcome outcome = ask_once(pool, deadline, try_to_evict);
    if (outcome != Outcome::in_vain) return outcome == Outcome::evicted;
    // Others may have taken the room that the answer made: work goes on.
    if (pool.state->evictions.load() == evictions) ++asks;
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
