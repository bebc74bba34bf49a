// Remembers which addresses are mappings of Cairn files, for mremap and for files that grow.
//
// A file may grow under a mapping that is longer than the file. A call of this process that makes
// it grow places the new blocks in the mappings. Blocks that another process has added raise
// SIGBUS, and its handler places them.
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
  uintptr_t placed;  // the mapping lies within the file up to here, as far as known
  Mapping* next;
};

extern std::atomic<uintptr_t> lowest;   // no mapping lies below,
extern std::atomic<uintptr_t> highest;  // nor at or above
extern std::atomic<bool> may_grow;      // true once a mapping reached beyond the end of its file

inline uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }
inline uintptr_t rounded(size_t size) { return (size + 4095) & ~uintptr_t{4095}; }
inline bool may_be_ours(const void* address, size_t size) {
  return number(address) < highest.load(std::memory_order_relaxed) &&
         number(address) + size > lowest.load(std::memory_order_relaxed);
}

// All functions below need a Held, unless their comments say otherwise. It holds back the program's
// signal handlers, because a handler may touch a mapping.
class Held {
 public:
  Held();
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Inside inside_;
};
void hold();  // hold() and release() do the same around a fork
void release();

Mapping* first();
Mapping* find(uintptr_t start, uintptr_t end);
bool remember(const Mapping& mapping);
// Forgets [start, end). Returns true if a mapping of ours was in it.
bool forget(uintptr_t start, uintptr_t end);
// Splits the mapping that reaches over `at`.
void split(uintptr_t at);
// Joins neighbours that continue each other, so that mremap can move them as one, as the kernel
// does.
void join();

// Finds how much of the mapping lies within the file. If the file ends in it, watches for growth
// from now on.
void look_beyond(Mapping* mapping);

// Places what this process has added to a file. Needs no Held. Only called if may_grow.
void file_changed(cairn_ino ino);
// Returns true if a file reaches `address` now, where a fault was raised. Needs no Held.
bool reached(const void* address);

}  // namespace posix::mappings
