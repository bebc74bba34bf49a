#include "tier/system/system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <functional>

namespace cairn::tier::sys {
namespace {

// Makes openat2 fail as on a kernel that does not have it, or in a container whose filter refuses
// it.
bool refuse_openat2(int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {4, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

class OpenIn : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cairn-open-in-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    top_ = name;
    std::filesystem::create_directories(top_ + "/in/a/b");
    std::filesystem::create_directories(top_ + "/out");
    ASSERT_EQ(symlink("../out", (top_ + "/in/link").c_str()), 0);
    ASSERT_EQ(symlink("b", (top_ + "/in/a/inner").c_str()), 0);
    ASSERT_EQ(symlink("/proc/self/cwd", (top_ + "/in/magic").c_str()), 0);
    directory_ = Descriptor(static_cast<int>(openat(AT_FDCWD, (top_ + "/in").c_str(), O_PATH)));
    ASSERT_TRUE(directory_.ok());
  }
  void TearDown() override { std::filesystem::remove_all(top_); }

  int64_t open(const std::string& path, int flags, uint32_t mode = 0) const {
    const int64_t fd = open_in(directory_.get(), path.c_str(), flags, mode);
    if (fd >= 0) close(static_cast<int>(fd));
    return fd < 0 ? fd : 0;
  }

  // "" or what went wrong.
  [[nodiscard]] std::string try_all() const {
    const auto is_link = [](int64_t result) { return result == -ELOOP || result == -ENOTDIR; };
    if (open("a/b", O_RDONLY | O_DIRECTORY) != 0) return "a directory";
    if (open("a//./b/", O_RDONLY | O_DIRECTORY) != 0) return "a path that is spelt otherwise";
    if (open(".", O_RDONLY | O_DIRECTORY) != 0) return "itself";
    if (open("a/new", O_WRONLY | O_CREAT | O_EXCL, 0640) != 0) return "a new file";
    if (open("a/new", O_WRONLY | O_CREAT | O_EXCL, 0640) != -EEXIST) return "a file that is there";
    if (open("a/new/x", O_RDONLY) != -ENOTDIR) return "below a file";
    if (open("a/missing", O_RDONLY) != -ENOENT) return "a missing file";
    if (open("", O_RDONLY) != -ENOENT) return "an empty path";
    sys::FileStat st = {};
    if (stat((top_ + "/in/a/new").c_str(), &st) != 0 || (st.st_mode & 07777) != 0640) return "mode";
    if (unlink((top_ + "/in/a/new").c_str()) != 0) return "unlink";
    if (!is_link(open("link", O_RDONLY | O_DIRECTORY))) return "a link";
    if (!is_link(open("link/file", O_WRONLY | O_CREAT, 0600))) return "through a link";
    if (!is_link(open("a/inner", O_RDONLY | O_DIRECTORY))) return "a link within";
    if (!is_link(open("magic", O_RDONLY))) return "a magic link";
    if (!is_link(open("magic/.", O_RDONLY))) return "through a magic link";
    if (open("link", O_PATH) != -ELOOP) return "the path of a link";
    if (open("link", O_PATH | O_NOFOLLOW) != 0) return "a link itself";
    for (const char* out : {"..", "../out", "a/..", "a/../a", "/", "/etc", "a/b/../../.."})
      if (open(out, O_RDONLY) != -EXDEV) return out;
    if (open("..a", O_RDONLY) != -ENOENT) return "a name that begins with two dots";
    return std::filesystem::is_empty(top_ + "/out") ? "" : "written outside";
  }

  // In a process whose filter stays its own.
  void in_filter(int error, const std::function<std::string()>& body) const {
    const pid_t child = fork();
    if (child == 0) {
      if (!refuse_openat2(error)) _exit(2);
      const std::string wrong = body();
      if (!wrong.empty()) fprintf(stderr, "wrong: %s\n", wrong.c_str());
      _exit(wrong.empty() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }

  std::string top_;
  Descriptor directory_;
};

TEST_F(OpenIn, StaysBeneath) { EXPECT_EQ(try_all(), ""); }

TEST_F(OpenIn, StaysBeneathWithoutOpenat2) {
  in_filter(ENOSYS, [&] { return try_all(); });
  in_filter(EPERM, [&] { return try_all(); });
}

TEST_F(OpenIn, TakesPathsThatAreTooLongForTheKernel) {
  const std::string name(200, 'x');
  std::string path;
  Descriptor at(static_cast<int>(openat(directory_.get(), ".", O_PATH)));
  while (path.size() < 2 * PATH_MAX + 1000) {
    ASSERT_EQ(mkdirat(at.get(), name.c_str(), 0700), 0);
    at = Descriptor(static_cast<int>(openat(at.get(), name.c_str(), O_PATH)));
    path += name + "/";
  }
  ASSERT_EQ(symlinkat(".", at.get(), "link"), 0);
  const auto try_long = [&]() -> std::string {
    if (open(path + "file", O_WRONLY | O_CREAT, 0600) != 0) return "a new file";
    sys::FileStat st = {};
    if (lstatat(at.get(), "file", &st) != 0) return "where the file is";
    if (open(path, O_RDONLY | O_DIRECTORY) != 0) return "a directory";
    if (open(path + std::string(PATH_MAX, '/'), O_RDONLY | O_DIRECTORY) != 0) return "slashes";
    if (open(path + "file/x", O_RDONLY) != -ENOTDIR) return "below a file";
    const int64_t linked = open(path + "link/file", O_RDONLY);
    if (linked != -ELOOP && linked != -ENOTDIR) return "through a link";
    if (open(path + "../x", O_RDONLY) != -EXDEV) return "a way up";
    if (open(std::string(PATH_MAX + 1, 'x'), O_RDONLY) != -ENAMETOOLONG) return "a long name";
    return "";
  };
  EXPECT_EQ(try_long(), "");
  in_filter(ENOSYS, try_long);
}

}  // namespace
}  // namespace cairn::tier::sys
