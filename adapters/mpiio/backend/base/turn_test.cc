#include "mpiio/backend/base/turn.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

namespace mpiio {
namespace {

struct Shared {
  Turn turn;
  std::atomic<int> taken;
  std::atomic<int> inside;
  std::atomic<int> together;
};

class TurnTest : public testing::Test {
 protected:
  void SetUp() override {
    void* at =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    shared_ = static_cast<Shared*>(at);
    ASSERT_EQ(shared_->turn.prepare(), 0);
  }
  void TearDown() override { munmap(shared_, sizeof(Shared)); }

  // Starts a child that takes the turn and keeps it.
  pid_t start_holder() {
    const pid_t child = fork();
    if (child == 0) {
      if (shared_->turn.take() != 0) _exit(1);
      shared_->taken = 1;
      while (true) pause();
    }
    int status = 0;
    while (shared_->taken == 0 && waitpid(child, &status, WNOHANG) == 0) usleep(1000);
    EXPECT_EQ(shared_->taken, 1) << "status of the child: " << status;
    return child;
  }

  Shared* shared_ = nullptr;
};

TEST_F(TurnTest, IsTakenByOneAtATime) {
  constexpr int processes = 4;
  constexpr int turns = 2000;
  for (int i = 0; i < processes; ++i) {
    if (fork() != 0) continue;
    for (int turn = 0; turn < turns; ++turn) {
      if (shared_->turn.take() != 0) _exit(1);
      if (shared_->inside.fetch_add(1) != 0) shared_->together = 1;
      shared_->inside.fetch_sub(1);
      shared_->turn.give_up();
    }
    _exit(0);
  }
  for (int i = 0; i < processes; ++i) {
    int status = -1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(shared_->together, 0);
}

TEST_F(TurnTest, OfAKilledProcessIsFreeAgain) {
  const pid_t holder = start_holder();
  std::atomic<int> got{-1};
  std::thread waiting([&] {
    got = shared_->turn.take();
    shared_->turn.give_up();
  });
  usleep(100'000);
  EXPECT_EQ(got, -1);
  kill(holder, SIGKILL);
  waiting.join();
  EXPECT_EQ(got, 0);
  // The turn works as before for all others, also after a second kill.
  waitpid(holder, nullptr, 0);
  shared_->taken = 0;
  const pid_t second = start_holder();
  kill(second, SIGKILL);
  waitpid(second, nullptr, 0);
  EXPECT_EQ(shared_->turn.take(), 0);
  shared_->turn.give_up();
}

// A reused process number must not keep the turn: the holder's parent has not reaped it, so its
// number is taken while the test runs.
TEST_F(TurnTest, OfAKilledProcessWhoseNumberIsTakenIsFreeAgain) {
  const pid_t holder = start_holder();
  kill(holder, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(holder), &info, WEXITED | WNOWAIT);
  ASSERT_EQ(kill(holder, 0), 0);
  EXPECT_EQ(shared_->turn.take(), 0);
  shared_->turn.give_up();
  waitpid(holder, nullptr, 0);
}

}  // namespace
}  // namespace mpiio
