// Tests the kernel lock behind lanes and view pins, with every accident that it must survive.
#include "media/liveness.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace cairn::media {
namespace {

constexpr uint64_t far_byte = uint64_t{1} << 40;

class Liveness : public testing::Test {
 protected:
  void SetUp() override {
    path_ = "/dev/shm/cairn-liveness-XXXXXX";
    fd_ = mkostemp(path_.data(), O_CLOEXEC);
    ASSERT_GE(fd_, 0);
  }
  void TearDown() override {
    close(fd_);
    unlink(path_.c_str());
  }
  bool held(uint64_t byte) const {
    Result<bool> answer = is_held(fd_, byte);
    EXPECT_TRUE(answer.ok());
    return *answer;
  }

  std::string path_;
  int fd_ = -1;
};

// Runs `body` in a child and returns its exit status.
template <typename Body>
int in_child(Body body) {
  pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

TEST_F(Liveness, ExcludesAlsoWithinOneProcess) {
  Result<LivenessLock> first = try_lock(path_.c_str(), far_byte);
  ASSERT_TRUE(first.ok()) << last_detail();
  EXPECT_TRUE(held(far_byte));
  EXPECT_FALSE(held(far_byte + 1));
  Result<LivenessLock> second = try_lock(fd_, far_byte);
  EXPECT_EQ(second.code(), EAGAIN);
  EXPECT_TRUE(try_lock(fd_, far_byte + 1).ok());
  first->release();
  EXPECT_FALSE(held(far_byte));
  EXPECT_TRUE(try_lock(fd_, far_byte).ok());
}

TEST_F(Liveness, AWholeRangeIsAskedAtOnce) {
  Result<LivenessLock> lock = try_lock(fd_, 700);
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(*is_held(fd_, 0, 1024));
  EXPECT_FALSE(*is_held(fd_, 0, 700));
  EXPECT_FALSE(*is_held(fd_, 701, 1024));
}

TEST_F(Liveness, NobodyCanCloseItByAccident) {
  Result<LivenessLock> lock = try_lock(fd_, 5);
  ASSERT_TRUE(lock.ok());
  // Not even by opening and closing the file, which loses a process's classic POSIX locks.
  close(open(path_.c_str(), O_RDWR));
  int copy = dup(fd_);
  close(copy);
  EXPECT_TRUE(held(5));
  EXPECT_EQ(in_child([&] {
              close_range(3, ~0U, 0);
              int fd = open(path_.c_str(), O_RDWR);
              return *is_held(fd, 5) ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(held(5));
}

TEST_F(Liveness, GoesWithItsProcessHoweverThatDies) {
  for (int signal : {SIGKILL, SIGTERM, SIGHUP}) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
      Result<LivenessLock> lock = try_lock(path_.c_str(), 9);
      char ok = lock.ok() ? 'y' : 'n';
      (void)!write(ready[1], &ok, 1);
      for (;;) pause();
    }
    char answer = 0;
    ASSERT_EQ(read(ready[0], &answer, 1), 1);
    ASSERT_EQ(answer, 'y');
    EXPECT_TRUE(held(9));
    kill(child, SIGSTOP);
    EXPECT_TRUE(held(9)) << "a stopped process is not dead";
    kill(child, signal);
    kill(child, SIGCONT);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(held(9));
    close(ready[0]);
    close(ready[1]);
  }
}

// The child lives on; the parent's death alone frees what is `own`, and does not free what is
// inherited.
TEST_F(Liveness, AForkedChildHoldsOnlyWhatIsInherited) {
  int ready[2];
  int stop[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(stop), 0);
  pid_t parent = fork();
  if (parent == 0) {
    Result<LivenessLock> own = try_lock(fd_, 1, Inheritance::own);
    Result<LivenessLock> pin = try_lock(fd_, 2, Inheritance::inherited);
    if (fork() == 0) {
      close(stop[1]);
      own->forget();
      (void)!write(ready[1], "c", 1);
      char byte;
      (void)!read(stop[0], &byte, 1);  // until the test closes its end
      _exit(0);
    }
    _exit(own.ok() && pin.ok() ? 0 : 1);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  int status = 0;
  waitpid(parent, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(held(1));
  EXPECT_TRUE(held(2));
  close(stop[1]);
  for (int i = 0; i < 2000 && held(2); ++i) usleep(1000);
  EXPECT_FALSE(held(2));
  close(ready[0]);
  close(ready[1]);
  close(stop[0]);
}

TEST_F(Liveness, ADescriptorCarriesItAcrossExec) {
  // The lock goes through exec in a shell that keeps the descriptor, and ends with it.
  int started[2];
  int stop[2];
  ASSERT_EQ(pipe(started), 0);
  ASSERT_EQ(pipe(stop), 0);
  pid_t child = fork();
  if (child == 0) {
    close(stop[1]);
    Result<int> carried = try_lock_descriptor(fd_, 3);
    if (!carried.ok()) _exit(1);
    dup2(started[1], 1);
    dup2(stop[0], 0);
    execl("/bin/sh", "sh", "-c", "echo started; read line", nullptr);
    _exit(2);
  }
  char byte;
  ASSERT_EQ(read(started[0], &byte, 1), 1);
  EXPECT_TRUE(held(3));
  close(stop[0]);
  close(stop[1]);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(held(3));
  close(started[0]);
  close(started[1]);
}

TEST_F(Liveness, TheSuccessorAdoptsADescriptor) {
  Result<int> carried = try_lock_descriptor(fd_, 4);
  ASSERT_TRUE(carried.ok());
  EXPECT_EQ(fcntl(*carried, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(try_lock(fd_, 4).code(), EAGAIN);
  Result<LivenessLock> lock = adopt(*carried, 4);
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(fcntl(*carried, F_GETFD), -1) << "adopt closes the descriptor";
  EXPECT_TRUE(held(4));
  // Another descriptor cannot be adopted while the lock is held.
  int stranger = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(adopt(stranger, 4).code(), EAGAIN);
  EXPECT_EQ(close(stranger), 0);
  lock->release();
  EXPECT_FALSE(held(4));
}

TEST_F(Liveness, SurvivesTheRemovalOfItsFile) {
  Result<LivenessLock> lock = try_lock(fd_, 6);
  ASSERT_TRUE(lock.ok());
  unlink(path_.c_str());
  EXPECT_TRUE(held(6));
  LivenessLock moved = std::move(*lock);
  EXPECT_FALSE(lock->held());
  EXPECT_TRUE(moved.held());
}

TEST_F(Liveness, SaysWhyItCannotOpen) {
  EXPECT_EQ(try_lock("/dev/shm/cairn-no-such-file", 0).code(), ENOENT);
  EXPECT_NE(std::string(last_detail()).find("/dev/shm/cairn-no-such-file"), std::string::npos);
  EXPECT_EQ(try_lock(-1, 0).code(), ENOENT);
  EXPECT_EQ(is_held(-1, 0).code(), EBADF);
}

}  // namespace
}  // namespace cairn::media
