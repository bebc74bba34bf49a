#include "file/inode/pins.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "file/open/process.h"
#include "pool/lanes/seats.h"
#include "support/fresh_pool.h"

namespace cairn::file {
namespace {

class Pins : public FreshPool {
 protected:
  std::vector<PinHandle> take(size_t count) {
    const pool::SeatGuard seat(fs->pool);
    std::vector<PinHandle> pins;
    for (size_t i = 0; i < count; ++i) {
      auto pin = pin_inode(*fs, *seat, 1);
      EXPECT_TRUE(pin.ok()) << last_detail();
      pins.push_back(std::move(*pin));
    }
    return pins;
  }
  void give_back(std::vector<PinHandle>& pins) {
    for (PinHandle& pin : pins) unpin(*fs, pin);
  }
  [[nodiscard]] uint64_t looked_at() const { return fs->pool.state->pin_cursor.load(); }
};

// A cut looks at all pin numbers ever used: their number grew with all pins of a program's life.
TEST_F(Pins, TakenAndGivenBackForEverAreNoMoreThanAtOnce) {
  constexpr size_t at_once = 300;
  for (int round = 0; round < 100; ++round) {
    auto pins = take(at_once);
    give_back(pins);
  }
  EXPECT_LE(looked_at(), 3 * at_once);
  EXPECT_FALSE(is_pinned(*fs, 1));
}

// A process that cuts the file finds the byte of a released pin unlocked; before it empties the
// entry, the pin is in force again.
TEST_F(Pins, ThatAreTakenAgainWhileSomebodyLooksForThemStayInForce) {
  std::atomic<bool> over{false};
  std::vector<std::thread> looking;
  for (int i = 0; i < 8; ++i) {
    looking.emplace_back([&] {
      while (!over) static_cast<void>(is_pinned(*fs, 1));
    });
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    auto pins = take(1);
    for (int look = 0; look < 4 && !HasFailure(); ++look) EXPECT_TRUE(is_pinned(*fs, 1));
    give_back(pins);
  }
  over = true;
  for (std::thread& thread : looking) thread.join();
}

TEST_F(Pins, AForkedChildTakesBackWhatItGaveBack) {
  auto pins = take(1);
  // Acts as another thread of the parent that searches at this moment.
  fs->free_pins.lock.store(1);
  ForkedLane forked;
  ASSERT_TRUE(prepare_fork(*fs, &forked).ok()) << last_detail();
  const pid_t child = fork();
  if (child == 0) {
    finish_fork_in_child(*fs, &forked);
    auto own = take(1);
    const uint64_t number = own[0].number;
    give_back(own);
    _exit(take(1)[0].number == number ? 0 : 1);
  }
  finish_fork_in_parent(*fs, &forked);
  fs->free_pins.lock.store(0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  give_back(pins);
}

}  // namespace
}  // namespace cairn::file
