#include "harness/medium.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace cairn::bench {
namespace {

// The child's directory in /dev/shm, known to the supervisor by the child's process number.
std::string shared_memory_name(pid_t pid) {
  return "/dev/shm/cairn-bench." + std::to_string(getuid()) + "." + std::to_string(pid);
}

void remove_all(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::string mount_huge(const char* directory) {
  if (unshare(CLONE_NEWNS) != 0) return std::string("unshare: ") + strerror(errno);
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return std::string("making mounts private: ") + strerror(errno);
  if (mount("cairn-bench", directory, "tmpfs", MS_NOSUID | MS_NODEV,
            "huge=always,mode=0700,size=12g") != 0)
    return std::string("mount -t tmpfs -o huge=always: ") + strerror(errno);
  return {};
}

}  // namespace

Medium Medium::huge_pages() {
  Medium medium;
  char name[] = "/tmp/cairn-bench.XXXXXX";
  if (mkdtemp(name) == nullptr) {
    medium.why_ = std::string("mkdtemp: ") + strerror(errno);
    return medium;
  }
  medium.why_ = mount_huge(name);
  if (!medium.why_.empty()) {
    rmdir(name);
    return medium;
  }
  medium.directory_ = name;
  medium.mounted_ = true;
  return medium;
}

Medium Medium::shared_memory() {
  Medium medium;
  const std::string name = shared_memory_name(getpid());
  std::error_code error;
  std::filesystem::create_directory(name, error);
  if (error)
    medium.why_ = name + ": " + error.message();
  else
    medium.directory_ = name;
  return medium;
}

Medium::Medium(Medium&& other) noexcept
    : directory_(std::exchange(other.directory_, {})), why_(other.why_), mounted_(other.mounted_) {}

Medium::~Medium() {
  if (directory_.empty()) return;
  if (mounted_) {
    umount2(directory_.c_str(), MNT_DETACH);
    rmdir(directory_.c_str());
  } else {
    remove_all(directory_);
  }
}

std::string Medium::description() const {
  return mounted_ ? "tmpfs with 2 MiB pages (huge=always)" : "/dev/shm, 4 KiB pages";
}

int supervised(const std::function<int(int, char**)>& body, int argc, char** argv) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    std::perror("fork");
    return 2;
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(2);
    std::exit(body(argc, argv));
  }
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, nullptr);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  remove_all(shared_memory_name(child));
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::fprintf(stderr, "%s: ended by signal %d (%s)\n", argv[0], WTERMSIG(status),
               strsignal(WTERMSIG(status)));
  return 2;
}

}  // namespace cairn::bench
