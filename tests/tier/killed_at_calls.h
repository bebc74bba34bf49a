// Killed at calls: a child process is killed at a chosen system call, whichever of its threads
// makes it.
#pragma once

#include <cstdint>
#include <functional>

namespace cairn::test {

struct AtCalls {
  bool ended = false;  // it came to its end before
  uint64_t calls = 0;  // begun and ended ones, until then
  int code = 0;        // with which it ended
};

// Runs `work` in a child process. The kernel stops each of its threads when a system call begins
// and when it ends; at stop number `last` it is killed (0: never).
AtCalls kill_at_call(uint64_t last, const std::function<int()>& work);

}  // namespace cairn::test
