// A drain that gives an evicted file other times, mode and attributes in lower, and is killed at
// any of its calls: processes go on reading and staging the file before the next drain.
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "tier/evict_fixture.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

constexpr int64_t second = 1'000'000'000;

class KilledAttributes : public EvictTest {
 protected:
  static constexpr uid_t other = 12345;
  static constexpr const char* written = "written";

  void SetUp() override {
    lower_ = shared_.path("lower");  // its syncs take no time there
    fs::create_directory(lower_);
  }
  ~KilledAttributes() override { set_lower_hook(nullptr); }

  // Runs `work` in a child process; as another user, if that is asked for.
  static int in_child(bool as_other, const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // it must not wait for itself
      if (as_other && (setgroups(0, nullptr) != 0 || setgid(other) != 0 || setuid(other) != 0))
        _exit(98);
      _exit(work());
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  // Counts the calls that a drain makes on lower, and kills the process at call `last`.
  int drain_killed_at(bool as_other, int last) {
    return in_child(as_other, [&] {
      Covered own(pool_, lower_, true);
      set_lower_hook([last, calls = 0](const LowerCall&) mutable {
        if (++calls == last) kill(getpid(), SIGKILL);
        return 0;
      });
      const int code = own.drain().code;
      set_lower_hook(nullptr);
      return code == 0 ? 0 : 1;
    });
  }
  void read_and_stage(Covered& own, const std::string& bytes, bool stages) {
    EXPECT_TRUE(own.read("file") == bytes) << cairn_last_error();
    EXPECT_TRUE((own.stat("file").flags & CAIRN_FILE_LAZY) != 0);
    if (!stages) return;
    EXPECT_EQ(own.write("file", written), 0) << cairn_last_error();
    EXPECT_FALSE((own.stat("file").flags & CAIRN_FILE_LAZY) != 0);
  }
};

TEST_F(KilledAttributes, TheFileIsReadBeforeTheNextDrain) {
  make_pool(16 * mib);
  std::string bytes = pattern(100'000, 1);
  {
    Covered own(pool_, lower_);
    ASSERT_EQ(own.create("file", bytes), 0);
  }
  int ended = -1;
  int newer = 0;  // kills after lower had the new time, and before the drain had come to its end
  for (int last = 1; ended != 0 && !HasFailure(); ++last) {
    SCOPED_TRACE(last);
    const int64_t time = (1'000'000 + last) * second;
    {
      Covered own(pool_, lower_, true);
      ASSERT_EQ(own.drain().code, 0) << cairn_last_error();
      const cairn_stat st = own.stat("file");
      if ((st.flags & CAIRN_FILE_LAZY) == 0) {
        ASSERT_EQ(cairn_evict(own.pool, st.ino, 0, nullptr), 0) << cairn_last_error();
      }
      ASSERT_EQ(cairn_utimens(own.pool, st.ino, 0, time, time), 0);
      ASSERT_EQ(cairn_chmod(own.pool, st.ino, 0, last % 2 != 0 ? 0600 : 0644), 0);
    }
    ended = drain_killed_at(false, last);
    ASSERT_TRUE(ended == 0 || ended == -SIGKILL) << ended;
    struct stat st = {};
    ASSERT_EQ(stat((lower_ + "/file").c_str(), &st), 0);
    if (ended != 0 && st.st_mtime == 1'000'000 + last) ++newer;
    Covered own(pool_, lower_, true);
    const bool stages = last % 3 == 0;
    read_and_stage(own, bytes, stages);
    if (stages) bytes.replace(0, std::string(written).size(), written);
    ASSERT_EQ(own.drain().code, 0) << cairn_last_error();
    EXPECT_TRUE(get(lower_ + "/file") == bytes);
    ASSERT_EQ(stat((lower_ + "/file").c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 0777U, last % 2 != 0 ? 0600U : 0644U);
    if (!stages) {
      EXPECT_EQ(st.st_mtime, 1'000'000 + last);
    }
  }
  EXPECT_GT(newer, 1);
}

// Who is not the owner of a file can give it the present time only, which no journal knows before.
TEST_F(KilledAttributes, ThePresentTimeOfAnothersFile) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can play two users";
  for (const std::string& path : {shared_.path(""), lower_}) fs::permissions(path, fs::perms::all);
  const std::string bytes = pattern(100'000, 1);
  const std::string file = lower_ + "/file";
  put(file, bytes);
  ASSERT_EQ(chmod(file.c_str(), 0666), 0);
  ASSERT_EQ(in_child(true, [this] { return make_pool(16 * mib), 0; }), 0);
  int ended = -1;
  int newer = 0;
  for (int last = 1; ended != 0 && !HasFailure(); ++last) {
    SCOPED_TRACE(last);
    const timespec old[2] = {{1'000'000, 0}, {1'000'000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), old, 0), 0);
    ASSERT_EQ(in_child(true,
                       [&] {
                         Covered own(pool_, lower_);
                         const int64_t now = time(nullptr) * second;
                         return cairn_utimens(own.pool, own.stat("file").ino, 0, now, now);
                       }),
              0);
    ended = drain_killed_at(true, last);
    ASSERT_TRUE(ended == 0 || ended == -SIGKILL) << ended;
    struct stat st = {};
    ASSERT_EQ(stat(file.c_str(), &st), 0);
    if (ended != 0 && st.st_mtime != 1'000'000) ++newer;
    EXPECT_EQ(in_child(true,
                       [&] {
                         Covered own(pool_, lower_, true);
                         read_and_stage(own, bytes, false);
                         EXPECT_EQ(own.drain().code, 0) << cairn_last_error();
                         EXPECT_EQ(own.discard(), 0) << cairn_last_error();
                         return HasFailure() ? 1 : 0;
                       }),
              0);
    ASSERT_EQ(stat(file.c_str(), &st), 0);
    EXPECT_GT(st.st_mtime, 1'000'000);
    EXPECT_TRUE(get(file) == bytes);
  }
  EXPECT_GT(newer, 0);
}

}  // namespace
}  // namespace cairn::test
