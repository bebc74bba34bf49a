#include "checkpoint/run/excused_restart.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "persist/region/write_window.h"

namespace cairn::checkpoint {
namespace {

struct Entry {
  std::atomic<bool> is_taken = false;
  std::atomic<persist::Word*> attempts = nullptr;  // null: the rest says nothing
  pool::Pool* pool = nullptr;
  uint32_t run = 0;
  pid_t process = 0;  // a child of fork() is not in the run
};

constexpr int most_entries = 16;
std::array<Entry, most_entries> entries;
std::atomic<int> handlers = 0;  // that look at entries now

}  // namespace

void ExcusedRestart::set(pool::Pool* pool, persist::Word* attempts, uint32_t run) {
  clear();
  for (int i = 0; i < most_entries; ++i) {
    Entry& entry = entries[static_cast<size_t>(i)];
    if (entry.is_taken.exchange(true)) continue;
    entry.pool = pool;
    entry.run = run;
    entry.process = getpid();
    entry.attempts.store(attempts);
    entry_ = i;
    return;
  }
}

void ExcusedRestart::clear() {
  if (entry_ < 0) return;
  Entry& entry = entries[static_cast<size_t>(entry_)];
  entry_ = -1;
  entry.attempts.store(nullptr);
  // In this thread no handler is under way.
  while (handlers.load() != 0) sched_yield();
  entry.is_taken.store(false);
}

void ExcusedRestart::note_signal() {
  handlers.fetch_add(1);
  {
    const persist::WriteWindow window;
    for (const Entry& entry : entries) {
      persist::Word* const attempts = entry.attempts.load();
      if (attempts != nullptr && entry.process == getpid())
        note_end(*entry.pool, attempts, entry.run, RunEnd::from_outside);
    }
  }
  handlers.fetch_sub(1);
}

}  // namespace cairn::checkpoint
