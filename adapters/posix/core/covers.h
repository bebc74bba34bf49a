// The covered directories of this process, as the environment names them.
#pragma once

#include <stddef.h>

#include <atomic>

#include "posix/core/engine.h"

namespace posix {

constexpr int kMostCovers = 8;
extern constinit Cover covers[kMostCovers];
extern int cover_count;

// A spelling of a cover's path: the real one, or one that leads there through symbolic links, as
// the user wrote it.
struct Spelling {
  const char* path;
  size_t length;
  Cover* cover;
};
constexpr int kMostSpellings = kMostCovers + 4;
extern Spelling spellings[kMostSpellings];
extern int spelling_count;

// 0: the environment has not been read; 1: nothing is covered; 2: something is.
extern std::atomic<int> coverage;
int read_environment();
inline bool active() {
  int state = coverage.load(std::memory_order_acquire);
  if (__builtin_expect(state == 0, 0)) state = read_environment();
  return state == 2;
}

// True if `folded` is a cover's path or lies above one.
bool is_ancestor(const char* folded);

}  // namespace posix
