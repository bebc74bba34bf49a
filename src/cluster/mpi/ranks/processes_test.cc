#include "cluster/mpi/ranks/processes.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace cairn::mpi {
namespace {

constexpr int some_rank = 7;

char state_of(pid_t process, const char* proc = "/proc") {
  const LocalProcess one = {some_rank, process, namespaces(), start_of(process)};
  return Processes(&one, 1, proc).state_of(some_rank);
}

// A child that waits to be killed.
class Child {
 public:
  explicit Child(void (*first)() = [] {}) : process_(fork()) {
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    first();
    while (true) pause();
  }
  ~Child() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] pid_t process() const { return process_; }
  void send(int signal, int options) const {
    kill(process_, signal);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(process_), &info, options | WNOWAIT);
  }

 private:
  pid_t process_;
};

TEST(Processes, LivesStandsStillOrIsGone) {
  EXPECT_EQ(state_of(getpid()), process_lives);
  pid_t gone = 0;
  {
    const Child child;
    gone = child.process();
    EXPECT_EQ(state_of(gone), process_lives);
    child.send(SIGSTOP, WSTOPPED);
    EXPECT_EQ(state_of(gone), process_stopped);
    child.send(SIGKILL, WEXITED);
    EXPECT_EQ(state_of(gone), process_gone);  // a zombie
  }
  EXPECT_EQ(state_of(gone), process_gone);
}

TEST(Processes, WhomADebuggerStopsLives) {
  const Child child;
  ASSERT_EQ(ptrace(PTRACE_SEIZE, child.process(), nullptr, nullptr), 0);
  ASSERT_EQ(ptrace(PTRACE_INTERRUPT, child.process(), nullptr, nullptr), 0);
  ASSERT_EQ(waitpid(child.process(), nullptr, __WALL), child.process());
  EXPECT_EQ(state_of(child.process()), process_lives);
}

TEST(Processes, WhoseFirstThreadHasEndedLives) {
  const Child child([] {
    pthread_t other;
    const auto wait = [](void*) -> void* {
      while (true) pause();
    };
    if (pthread_create(&other, nullptr, wait, nullptr) == 0) syscall(SYS_exit, 0);
  });
  const std::string path = "/proc/" + std::to_string(child.process()) + "/stat";
  for (char letter = 0; letter != 'Z'; usleep(1000)) {
    std::FILE* stat = std::fopen(path.c_str(), "r");
    ASSERT_NE(stat, nullptr);
    ASSERT_EQ(std::fscanf(stat, "%*d %*s %c", &letter), 1);
    std::fclose(stat);
  }
  EXPECT_EQ(state_of(child.process()), process_lives);
}

TEST(Processes, WhereTheSystemShowsNone) {
  const char* nothing = "/nonexistent";
  EXPECT_EQ(state_of(getpid(), nothing), process_lives);
  pid_t gone = 0;
  {
    const Child child;
    gone = child.process();
  }
  EXPECT_EQ(state_of(gone, nothing), process_gone);
}

TEST(Processes, WhoseNumberAnotherOneHasGotIsGone) {
  LocalProcess one = {some_rank, 0, namespaces(), 0};
  {
    const Child first;
    one.started = start_of(first.process());
    ASSERT_NE(one.started, 0);
  }
  // As if it had got the number of the first one, some ticks later.
  usleep(50'000);
  const Child later;
  ASSERT_GT(start_of(later.process()), one.started);
  one.process = later.process();
  EXPECT_EQ(Processes(&one, 1).state_of(some_rank), process_gone);
  // Where the first one's start is not known, nothing is.
  one.started = 0;
  EXPECT_EQ(Processes(&one, 1).state_of(some_rank), process_lives);
}

TEST(Processes, OfAnotherNamespaceLives) {
  const LocalProcess one = {some_rank, 1 << 30, namespaces() + 1, 1};
  EXPECT_EQ(Processes(&one, 1).state_of(some_rank), process_lives);
  EXPECT_EQ(Processes(&one, 1).state_of(some_rank + 1), process_lives);
}

}  // namespace
}  // namespace cairn::mpi
