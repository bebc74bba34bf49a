#include "crash/turns.h"

#include <unistd.h>

#include <chrono>

namespace cairn::test {

thread_local int Turns::me_ = Turns::bystander;

namespace {

// Whoever makes no event for so long while it is his turn waits for a lock that the other one
// holds.
constexpr auto blocked_after = std::chrono::milliseconds(4);

}  // namespace

void Turns::pass() {
  if (me_ == bystander) return;
  std::unique_lock guard(lock_);
  for (;;) {
    if (turn_ == schedule_.size()) return;
    const Turn& turn = schedule_[turn_];
    const bool over = done_ >= turn.events;
    if (over && turn.who == me_ && turn.dies) {
      dead_[me_] = true;
      advance();
      guard.unlock();
      for (;;) pause();
    }
    if (over || finished_[turn.who] || dead_[turn.who]) {
      advance();
      continue;
    }
    if (turn.who == me_) {
      ++done_;
      ++progress_;
      return;
    }
    const uint64_t before = progress_;
    const size_t turn_before = turn_;
    const bool moved =
        changed_.wait_for(guard, blocked_after, [&] { return turn_ != turn_before; });
    if (!moved && progress_ == before && turn_ == turn_before && !schedule_[turn_].dies) advance();
  }
}

void Turns::finish() {
  std::lock_guard guard(lock_);
  finished_[me_] = true;
  ++progress_;
  changed_.notify_all();
  if (turn_ < schedule_.size() && schedule_[turn_].who == me_) advance();
}

bool Turns::wait_until_gone(int who) {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [&] { return finished_[who] || dead_[who]; });
  return dead_[who];
}

}  // namespace cairn::test
