#include "base/coarse_clock.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace {
std::atomic<time_t> ahead{0};  // of the clock that this program puts before the C library's
}

extern "C" int clock_gettime(clockid_t clock, timespec* t) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, t));
  t->tv_sec += ahead.load();
  return result;
}

namespace cairn {
namespace {

constexpr uint64_t second = 1'000'000'000;

TEST(CoarseClock, StandsNoMoreThanATickBehindTheFineOne) {
  for (int round = 0; round < 2; ++round) {
    const uint64_t before = coarse_now_ns();
    const uint64_t now = fine_now_ns();
    EXPECT_LE(before, now);
    EXPECT_LT(now - before, second);
    find_kernel_clock();
  }
}

TEST(CoarseClock, AndTheFineOneAreTheSameClockAlsoForWhoeverPreloadsOne) {
  find_kernel_clock();
  ahead.store(3600);
  const uint64_t coarse = coarse_now_ns();
  const uint64_t fine = fine_now_ns();
  ahead.store(0);
  EXPECT_LT(fine - coarse, second);
}

// ThreadSanitizer shows a race here: another pool is attached while files are written.
TEST(CoarseClock, IsFoundWhileOthersLookAtIt) {
  std::atomic<bool> done{false};
  std::thread writer([&] {
    while (!done.load(std::memory_order_relaxed)) EXPECT_NE(coarse_now_ns(), 0U);
  });
  for (int i = 0; i < 100; ++i) find_kernel_clock();
  done.store(true, std::memory_order_relaxed);
  writer.join();
}

}  // namespace
}  // namespace cairn
