#include "pool/lanes/stopped.h"

#include <cstdio>
#include <cstring>

#include "pool/core/lock_word.h"

namespace cairn::pool {

// Reads the state in /proc/PID/stat, behind the name in parentheses.
Motion motion_of(int pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE* file = std::fopen(path, "re");
  if (file == nullptr) return Motion::goes_on;
  char text[512] = {};
  const size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const char* end = n == 0 ? nullptr : std::strrchr(text, ')');
  if (end == nullptr || end[1] != ' ') return Motion::goes_on;
  if (end[2] == 'T') return Motion::stopped;
  return end[2] == 't' ? Motion::held_by_debugger : Motion::goes_on;
}

Motion motion_of_owner(const Pool& pool, uint64_t lock_word) {
  return motion_of(static_cast<int>(pool.lanes[lane_of(lock_word)].pid.load()));
}

}  // namespace cairn::pool
