#include "base/unused_number.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

namespace cairn {
namespace {

TEST(UnusedNumber, IsThatOfAProcessThatIsGone) {
  EXPECT_FALSE(is_unused_number(getpid()));
  EXPECT_FALSE(is_unused_number(0));
  EXPECT_FALSE(is_unused_number(-1));
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  EXPECT_FALSE(is_unused_number(child));
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(is_unused_number(child));  // its parent has not heard of its end yet
  EXPECT_FALSE(is_unused_for_signals(child));
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_unused_number(child));
  EXPECT_TRUE(is_unused_for_signals(child));
}

TEST(UnusedNumber, LeavesNothingOpenAndErrnoAlone) {
  errno = EXDEV;
  const int next = dup(0);
  close(next);
  EXPECT_FALSE(is_unused_number(getpid()));
  const int after = dup(0);
  close(after);
  EXPECT_EQ(next, after);
  EXPECT_EQ(errno, EXDEV);
}

}  // namespace
}  // namespace cairn
