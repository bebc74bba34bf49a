// Reads the coarse clock, with which the kernel stamps files: it moves on with the timer's tick.
//
// Every write reads the clock. So it is read without the C library, whose calls are stores that
// queue up behind the write's own (file/data/fast_path.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

namespace cairn {

namespace detail {
using ClockGettime = int (*)(clockid_t, timespec*);
extern constinit std::atomic<ClockGettime> ask_clock;

inline uint64_t now_ns(clockid_t clock) {
  timespec t;  // filled in; the call cannot fail
  ask_clock.load(std::memory_order_relaxed)(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}
}  // namespace detail

// Finds the kernel's own function (vdso(7)); without it the C library's is called. Takes the
// dynamic linker's lock, as looking up a function does.
void find_kernel_clock();

// Nanoseconds since 1970, by CLOCK_REALTIME_COARSE.
inline uint64_t coarse_now_ns() { return detail::now_ns(CLOCK_REALTIME_COARSE); }

// Nanoseconds since 1970, by CLOCK_REALTIME. A preloaded clock such as libfaketime changes neither
// of these two: times of one file must not come from two clocks.
inline uint64_t fine_now_ns() { return detail::now_ns(CLOCK_REALTIME); }

// Nanoseconds since a moment that all processes of this boot share.
inline uint64_t coarse_monotonic_ns() { return detail::now_ns(CLOCK_MONOTONIC_COARSE); }
inline uint64_t fine_monotonic_ns() { return detail::now_ns(CLOCK_MONOTONIC); }

}  // namespace cairn
