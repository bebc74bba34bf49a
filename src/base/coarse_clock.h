// The coarse clock, as the kernel stamps files with it: it moves on with the timer's tick.
//
// Every write looks at it, so it is asked without the C library in between, whose calls are stores that queue up
// behind the write's own (file/short_way.h).
#pragma once

#include <cstdint>
#include <ctime>

namespace cairn {

namespace detail {
using ClockGettime = int (*)(clockid_t, timespec*);
extern constinit ClockGettime ask_clock;
}  // namespace detail

// Finds the kernel's own function (vdso(7)); without it the C library's is called. Not in signal handlers.
void find_kernel_clock();

// Nanoseconds since 1970, by CLOCK_REALTIME_COARSE.
inline uint64_t coarse_now_ns() {
  timespec t;  // filled in; the call cannot fail
  detail::ask_clock(CLOCK_REALTIME_COARSE, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace cairn
