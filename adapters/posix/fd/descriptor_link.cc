#include "posix/fd/descriptor_link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "posix/core/calls.h"
#include "posix/core/engine.h"

namespace posix::descriptor_link {

// The link lies in the pool's directory, which holds the lock file and is closed to other users. If
// this process is not the pool's user any more, it lies where temporary files lie.
int make(const char* text) {
  static std::atomic<unsigned> counter{0};
  char home[PATH_MAX];
  snprintf(home, sizeof home, "%s", cairn_pool_lock_path(pool));
  if (char* slash = strrchr(home, '/'); slash != nullptr) *slash = '\0';
  int error = ENOENT;
  // The pool's directory comes three times: a process in another namespace may have the same
  // number.
  const char* const in_turn[] = {home, home, home, "/dev/shm", "/tmp"};
  for (const char* directory : in_turn) {
    char name[PATH_MAX + 64];
    snprintf(name, sizeof name, "%s/.cairn-link-%d-%u", directory, getpid(), counter.fetch_add(1));
    if (real::symlink(text, name) != 0) {
      error = errno;
      continue;
    }
    int fd = real::open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
    error = errno;
    real::unlink(name);
    if (fd >= 0) return fd;
  }
  return -error;
}

const char* read(int fd, char* text, size_t capacity) {
  int before = errno;
  ssize_t length = real::readlinkat(fd, "", text, capacity - 1);
  errno = before;
  if (length <= 0) return nullptr;
  text[length] = '\0';
  size_t pool = strlen(pool_path);
  if (strncmp(text, "cairn:", 6) != 0 || strncmp(text + 6, pool_path, pool) != 0) return nullptr;
  const char* rest = text + 6 + pool;
  return *rest == '\0' || *rest == ':' ? rest : nullptr;
}

bool is_like(int fd, int own) {
  const int before = errno;
  struct stat of_own;
  struct stat st;
  const bool is = real::fstat(own, &of_own) == 0 && real::fstat(fd, &st) == 0 &&
                  S_ISLNK(st.st_mode) && st.st_nlink == 0 && st.st_uid == of_own.st_uid &&
                  st.st_dev == of_own.st_dev;
  errno = before;
  return is;
}

namespace {

// The place of a link: its directory, as the kernel shows it, and the mount. In the mount namespace
// of another user, another directory can have the same path.
class Where {
 public:
  explicit Where(int fd) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t length = real::readlinkat(AT_FDCWD, name, directory_, sizeof directory_ - 1);
    directory_[length < 0 ? 0 : length] = '\0';
    char* slash = strrchr(directory_, '/');
    if (slash != nullptr) *slash = '\0';
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", fd);
    read_mount(name);
  }
  [[nodiscard]] bool is_known() const { return directory_[0] == '/' && mount_[0] != '\0'; }
  // True for the pool's directory, false for /tmp and /dev/shm.
  [[nodiscard]] bool is_closed_to_all_but(uid_t user) const {
    struct stat st;
    return is_known() && real::stat(directory_, &st) == 0 && S_ISDIR(st.st_mode) &&
           (st.st_uid == user || st.st_uid == 0) && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  }
  [[nodiscard]] bool is_same(const Where& other) const {
    return is_known() && strcmp(directory_, other.directory_) == 0 &&
           strcmp(mount_, other.mount_) == 0;
  }

 private:
  // Reads the line "mnt_id: NUMBER".
  void read_mount(const char* name) {
    mount_[0] = '\0';
    char text[512];
    const int info = real::open(name, O_RDONLY | O_CLOEXEC, 0);
    if (info < 0) return;
    const ssize_t length = real::read(info, text, sizeof text - 1);
    real::close(info);
    text[length < 0 ? 0 : length] = '\0';
    const char* line = strstr(text, "mnt_id:");
    if (line != nullptr)
      snprintf(mount_, sizeof mount_, "%.*s", static_cast<int>(strcspn(line, "\n")), line);
  }

  char directory_[PATH_MAX];
  char mount_[32];
};

}  // namespace

bool lies_beside(int fd, int own) {
  const int before = errno;
  const Where where(own);
  struct stat st;
  const bool lies = real::fstat(own, &st) == 0 && where.is_closed_to_all_but(st.st_uid) &&
                    Where(fd).is_same(where);
  errno = before;
  return lies;
}

}  // namespace posix::descriptor_link
