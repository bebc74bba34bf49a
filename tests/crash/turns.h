// Turns: which of two threads may store next. A schedule says how many stores, flushes and fences
// each makes before the other goes on; so two calls interleave at chosen places, the same way every
// time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace cairn::test {

class Turns {
 public:
  static constexpr uint64_t to_the_end = UINT64_MAX;
  struct Turn {
    int who;            // 0 or 1
    uint64_t events;    // then it is the next one's turn
    bool dies = false;  // ... and this one never goes on
  };

  explicit Turns(std::vector<Turn> schedule) : schedule_(std::move(schedule)) {}

  // Which thread this is.
  static void be(int who) { me_ = who; }
  static constexpr int bystander = -1;

  // Called before each event (Simulator::set_turnstile). Returns when it is this thread's turn;
  // never, if it dies here.
  void pass();
  // This thread's call has returned.
  void finish();
  // Waits until the thread has finished or died; true if it died.
  bool wait_until_gone(int who);

 private:
  void advance() {
    ++turn_;
    done_ = 0;
    changed_.notify_all();
  }

  std::vector<Turn> schedule_;
  std::mutex lock_;
  std::condition_variable changed_;
  size_t turn_ = 0;
  uint64_t done_ = 0;      // events of this turn
  uint64_t progress_ = 0;  // events and returns of all
  bool finished_[2] = {};
  bool dead_[2] = {};
  static thread_local int me_;
};

}  // namespace cairn::test
