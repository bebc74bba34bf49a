#include "file/space/room_request.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/coarse_clock.h"

namespace cairn::file {
namespace {

constexpr uint64_t second = 1'000'000'000;
// Longer than a keeper's longest system call, an fsync in lower.
constexpr uint64_t promise_ns = 15 * second;
// The longest time that a call waits, whatever the keeper does.
constexpr uint64_t longest_ns = 60 * second;
constexpr std::chrono::milliseconds pause(5);
// The time for further searches after one that found nothing (Lower::evict_some).
constexpr uint64_t last_tries_ns = second / 4;
// The number of requests: a file that was open or being written when the keeper looked may be
// closed a moment later, as ranks of a job close their files one after the other.
constexpr int most_asks = 4;

void raise(Pool& pool, Word& word, uint64_t value) {
  uint64_t held = word.load();
  while (held < value && !pool.compare_exchange(word, held, value)) {
  }
}

// Returns the number of this process among the keepers of a pool. It stays the same when the
// process attaches again.
uint64_t own_number() {
  static const uint64_t number = fine_monotonic_ns() << 22 | static_cast<uint64_t>(getpid()) | 1;
  return number;
}

format::RoomKeeper* own_words(Pool& pool) {
  for (format::RoomKeeper& words : pool.state->room_keeper)
    if (words.keeper.load() == own_number()) return &words;
  return nullptr;
}

// Takes the words of a keeper whose promise has ended. Null: other keepers have all of them.
format::RoomKeeper* take_words(Pool& pool, uint64_t now) {
  static std::mutex one_thread;
  const std::scoped_lock lock(one_thread);
  if (format::RoomKeeper* own = own_words(pool)) return own;
  for (format::RoomKeeper& words : pool.state->room_keeper) {
    uint64_t keeper = words.keeper.load();
    if (now < words.until.load() || !pool.compare_exchange(words.keeper, keeper, own_number()))
      continue;
    // No process waits for an earlier request any more.
    const uint64_t wanted = pool.state->room_wanted.load();
    pool.store(words.answered, wanted + longest_ns <= now ? wanted : 0);
    return &words;
  }
  return nullptr;
}

Word& answered_by_this(Pool& pool) {
  format::RoomKeeper* own = own_words(pool);
  return own != nullptr ? own->answered : pool.state->room_answered;
}

// The keepers' answer to a request: no keeper looks at it, one has still to answer, or all have
// answered. Any of them may have the files that make room.
enum class KeepersAnswer : uint8_t { nobody, awaited, given };
KeepersAnswer answer_to(const Pool& pool, uint64_t request, uint64_t now) {
  const format::State& state = *pool.state;
  bool any = false;
  bool all = true;
  const auto look = [&](const Word& until, const Word& answered) {
    if (now >= until.load()) return;
    any = true;
    all = all && answered.load() >= request;
  };
  look(state.keeper_until, state.room_answered);
  for (const format::RoomKeeper& words : state.room_keeper) look(words.until, words.answered);
  if (!any) return KeepersAnswer::nobody;
  return all ? KeepersAnswer::given : KeepersAnswer::awaited;
}

enum class RequestOutcome : uint8_t { evicted, in_vain, unanswered };

// Makes one request. Only a search that begins after the answer decides: one that began before may
// have missed a file that was drained meanwhile.
RequestOutcome ask_once(Pool& pool, uint64_t deadline, const TryToEvict& try_to_evict) {
  const uint64_t request = fine_monotonic_ns();
  raise(pool, pool.state->room_wanted, request);
  uint64_t end = deadline;
  bool answered = false;
  for (uint64_t now = request; now < deadline; now = fine_monotonic_ns()) {
    const KeepersAnswer answer = answer_to(pool, request, now);
    answered = answered || answer == KeepersAnswer::given;
    if (!answered && answer == KeepersAnswer::nobody) return RequestOutcome::unanswered;
    if (try_to_evict(answered)) return RequestOutcome::evicted;
    if (answered) {
      now = fine_monotonic_ns();
      if (now >= end) return RequestOutcome::in_vain;
      if (end == deadline) end = now + last_tries_ns;
    }
    std::this_thread::sleep_for(pause);
  }
  return RequestOutcome::unanswered;
}

}  // namespace

bool ask_keeper_for_room(FileSystem& fs, const TryToEvict& try_to_evict) {
  Pool& pool = fs.pool;
  if (pool.read_only || fs.keeps_room.load(std::memory_order_relaxed)) return false;
  const uint64_t deadline = fine_monotonic_ns() + longest_ns;
  for (int asks = 0; asks < most_asks;) {
    const uint64_t evictions = pool.state->evictions.load();
    const RequestOutcome outcome = ask_once(pool, deadline, try_to_evict);
    if (outcome != RequestOutcome::in_vain) return outcome == RequestOutcome::evicted;
    // Others may have taken the room that the answer made: work goes on.
    if (pool.state->evictions.load() == evictions) ++asks;
  }
  return false;
}

uint64_t promise_room(FileSystem& fs) {
  static std::atomic<bool> has_promised{false};
  Pool& pool = fs.pool;
  fs.keeps_room.store(true, std::memory_order_relaxed);
  const uint64_t now = fine_monotonic_ns();
  // The first promise uses the shared word, for the keeper that the process is about to start.
  format::RoomKeeper* own = has_promised.exchange(true) ? take_words(pool, now) : own_words(pool);
  pool.store(own != nullptr ? own->until : pool.state->keeper_until, now + promise_ns);
  // The keeper that was announced has its own words now.
  if (own != nullptr && pool.state->keeper_until.load() != 0)
    pool.store(pool.state->keeper_until, 0);
  return is_room_wanted(pool) ? pool.state->room_wanted.load() : 0;
}

bool is_room_wanted(Pool& pool) {
  const uint64_t wanted = pool.state->room_wanted.load();
  if (const format::RoomKeeper* own = own_words(pool)) return wanted > own->answered.load();
  uint64_t answered = pool.state->room_answered.load();
  for (const format::RoomKeeper& words : pool.state->room_keeper)
    answered = std::max(answered, words.answered.load());
  return wanted > answered;
}

void answer_room(Pool& pool, uint64_t request) { raise(pool, answered_by_this(pool), request); }

void end_promise(Pool& pool) {
  format::RoomKeeper* own = own_words(pool);
  pool.store(own != nullptr ? own->until : pool.state->keeper_until, 0);
  if (own != nullptr) pool.store(own->keeper, 0);
}

}  // namespace cairn::file
