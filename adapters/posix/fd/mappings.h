// Which addresses are mappings of Cairn files, and what mremap and growth need to know of them.
//
// A file may grow under a mapping that is longer than it. In this process whoever changed the file
// looks after its mappings; what another process has added is met as SIGBUS, and placed then.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

#include "posix/core/engine.h"

namespace posix::mappings {

struct Mapping {
  uintptr_t start;
  uintptr_t end;
  int protection;
  int flags;
  uint64_t offset;  // of start
  cairn_file* file;
  uintptr_t placed;  // up to here it is known to lie within the file
  Mapping* next;
};

extern std::atomic<uintptr_t> lowest;   // none lies below,
extern std::atomic<uintptr_t> highest;  // or at or above
extern std::atomic<bool> may_grow;      // some reached beyond the end of its file

inline uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }
inline uintptr_t rounded(size_t size) { return (size + 4095) & ~uintptr_t{4095}; }
inline bool may_be_ours(const void* address, size_t size) {
  return number(address) < highest.load(std::memory_order_relaxed) &&
         number(address) + size > lowest.load(std::memory_order_relaxed);
}

// Needed for all that follows, except where it is said. Handlers of the program wait: one may touch
// a mapping.
class Held {
 public:
  Held();
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Inside inside_;
};
void hold();  // the same, around a fork
void release();

Mapping* first();
Mapping* find(uintptr_t start, uintptr_t end);
bool remember(const Mapping& mapping);
// Takes [start, end) out of what is remembered. True if any of it was ours.
bool forget(uintptr_t start, uintptr_t end);
// No mapping that is remembered reaches over `at`.
void split(uintptr_t at);
// As the kernel does: what was split and is the same again can move as one.
void join();

// Finds how much of it lies within the file. If not all does, growth is looked for from now on.
void look_beyond(Mapping* mapping);

// Without Held: a file was changed by this process. Only called if may_grow.
void file_changed(cairn_ino ino);
// Without Held: does a file reach `address` now, where a fault was met?
bool reached(const void* address);

}  // namespace posix::mappings
