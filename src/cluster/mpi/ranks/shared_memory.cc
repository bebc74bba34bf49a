#include "cluster/mpi/ranks/shared_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace cairn::mpi {
namespace {

constexpr const char* directory = "/dev/shm";
constexpr const char* prefix = "cairn-mpiio-";
constexpr SharedMemoryName pattern = {"/dev/shm/cairn-mpiio-XXXXXX"};
constexpr int most_tries = 100;

int close_with(int fd, int error) {
  ::close(fd);
  errno = error;
  return -1;
}

int lock(int fd, int how) {
  int result = 0;
  do result = ::flock(fd, how);
  while (result != 0 && errno == EINTR);
  return result;
}

bool is_ours(const struct stat& st) { return S_ISREG(st.st_mode) && st.st_uid == ::geteuid(); }

// Removes it if its maker is dead. A maker that has not locked it yet finds that its name is gone,
// and makes another one.
void remove_if_left(int in, const char* name) {
  const int fd = ::openat(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat opened;
  struct stat named;
  if (::fstat(fd, &opened) == 0 && is_ours(opened) && lock(fd, LOCK_EX | LOCK_NB) == 0 &&
      ::fstatat(in, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == opened.st_dev &&
      named.st_ino == opened.st_ino)
    ::unlinkat(in, name, 0);
  ::close(fd);
}

void remove_left() {
  DIR* names = ::opendir(directory);
  if (names == nullptr) return;
  while (const dirent* entry = ::readdir(names))
    if (std::strncmp(entry->d_name, prefix, std::strlen(prefix)) == 0)
      remove_if_left(::dirfd(names), entry->d_name);
  ::closedir(names);
}

}  // namespace

int make_shared_memory(SharedMemoryName* name) {
  [[maybe_unused]] static const bool cleaned = (remove_left(), true);
  for (int tries = 0; tries < most_tries; ++tries) {
    *name = pattern;
    const int fd = ::mkostemp(name->path, O_CLOEXEC);
    if (fd < 0) break;
    struct stat st;
    if (lock(fd, LOCK_SH) != 0 || ::fstat(fd, &st) != 0) {
      const int error = errno;
      ::unlink(name->path);
      *name = {};
      return close_with(fd, error);
    }
    name->device = st.st_dev;
    name->inode = st.st_ino;
    if (st.st_nlink != 0) return fd;
    ::close(fd);
    errno = EAGAIN;
  }
  *name = {};
  return -1;
}

int open_shared_memory(const SharedMemoryName& name, int flags, size_t size) {
  const int fd = ::open(name.path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat st;
  if (::fstat(fd, &st) != 0) return close_with(fd, errno);
  const bool is_it = is_ours(st) && st.st_dev == name.device && st.st_ino == name.inode &&
                     st.st_size >= static_cast<off_t>(size);
  return is_it ? fd : close_with(fd, ESTALE);
}

void remove_shared_memory(const SharedMemoryName& name) {
  struct stat st;
  if (name.path[0] != '\0' && ::lstat(name.path, &st) == 0 && st.st_dev == name.device &&
      st.st_ino == name.inode)
    ::unlink(name.path);
}

}  // namespace cairn::mpi
