#include "process/process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

namespace cairn::cli {
namespace {

// A child that does `work`, until this object is gone.
class Child {
 public:
  explicit Child(const std::function<void()>& work) : pid_(fork()) {
    if (pid_ != 0) return;
    work();
    _exit(0);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] int pid() const { return pid_; }

 private:
  pid_t pid_;
};

bool becomes(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

TEST(Process, WaitsInASystemCallOrSleeps) {
  const Child waits([] { poll(nullptr, 0, -1); });
  const Child sleeps([] { std::this_thread::sleep_for(std::chrono::hours(1)); });
  EXPECT_TRUE(becomes([&] { return is_in_system_call(waits.pid()); }));
  EXPECT_TRUE(becomes([&] { return !is_in_system_call(sleeps.pid()); }));
}

TEST(Process, IsStopped) {
  const Child child([] { poll(nullptr, 0, -1); });
  EXPECT_FALSE(is_stopped(child.pid()));
  kill(child.pid(), SIGSTOP);
  EXPECT_TRUE(becomes([&] { return is_stopped(child.pid()); }));
  kill(child.pid(), SIGCONT);
  EXPECT_TRUE(becomes([&] { return !is_stopped(child.pid()); }));
}

}  // namespace
}  // namespace cairn::cli
