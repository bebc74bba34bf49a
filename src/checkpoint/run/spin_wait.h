// SpinWait: the pauses of a process that waits for other ranks.
#pragma once

#include <cstdint>
#include <ctime>

namespace cairn::checkpoint {

class SpinWait {
 public:
  // Pauses: spins at first, then sleeps. Returns true when the caller should check whether ranks
  // are alive.
  bool pause() {
    ++rounds_;
    if (rounds_ < spins) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      return false;
    }
    const bool looks = rounds_ == spins || rounds_ % looks_every == 0;
    const timespec time{0, rounds_ < spins + short_sleeps ? 20'000 : 200'000};
    if (rounds_ != spins) nanosleep(&time, nullptr);
    return looks;
  }

 private:
  static constexpr uint32_t spins = 400;
  static constexpr uint32_t short_sleeps = 50;
  static constexpr uint32_t looks_every = 16;
  uint32_t rounds_ = 0;
};

}  // namespace cairn::checkpoint
