#include "posix/path/fifo_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/permission.h"
#include "posix/credentials/pool_owner.h"
#include "posix/fd/descriptor.h"
#include "posix/path/covered.h"
#include "posix/path/lookup.h"

namespace posix::fifo_socket {

void special_name(const cairn_stat& st, char* text, size_t capacity, const char* addition) {
  snprintf(text, capacity, "special.%llu.%llu%s", static_cast<unsigned long long>(st.ino),
           static_cast<unsigned long long>(st.generation), addition);
}

// The pool removes this folder with itself. A process that has changed its user opened it before
// the change.
int open_folder() {
  int before = errno;
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/links", pool_path);
  int fd = -1;
  if (const int kept = pool_owner::links(); kept >= 0) {
    fd = real::fcntl(kept, F_DUPFD_CLOEXEC, nullptr);
  } else if (real::mkdir(path, 0700) == 0 || errno == EEXIST) {
    fd = real::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  }
  if (fd < 0) fd = -errno;
  errno = before;
  return fd < 0 ? fd : descriptor::keep_private(fd);
}

Folder::~Folder() {
  if (fd_ >= 0) descriptor::close_private(fd_);
}

int open_fifo(const cairn_stat& st, int flags) {
  int before = errno;
  const Folder folder;
  if (folder.fd() < 0) return folder.fd();
  char name[64];
  special_name(st, name, sizeof name);
  int fd = -1;
  const bool made = real::mknodat(folder.fd(), name, S_IFIFO | 0600, 0) == 0;
  // The pool has decided that the caller may open it. No other user can enter the folder.
  if (made) real::fchmodat(folder.fd(), name, 0666, 0);
  if (made || errno == EEXIST)
    fd = real::openat(folder.fd(), name, flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW), 0);
  int error = errno;
  errno = before;
  return fd < 0 ? -error : fd;
}

bool is_fifo(int fd, cairn_stat* st) {
  struct stat of_kernel;
  if (!active() || fd < 0) return false;
  int before = errno;
  char link[64], text[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = real::fstat(fd, &of_kernel) == 0 && S_ISFIFO(of_kernel.st_mode)
                       ? real::readlink(link, text, sizeof text - 1)
                       : -1;
  errno = before;
  if (length < 0) return false;
  text[length] = '\0';
  constexpr char kSpecial[] = "/links/special.";
  const char* name = strstr(text, kSpecial);
  if (name == nullptr) return false;
  char* end = nullptr;
  const uint64_t ino = strtoull(name + strlen(kSpecial), &end, 10);
  if (*end != '.') return false;
  const uint64_t generation = strtoull(end + 1, &end, 10);
  if (engine::attach() < 0) return false;
  if (cairn_stat_ino(pool, ino, st) == 0 && st->generation == generation) return true;
  *st = {};
  st->ino = ino;
  st->mode = of_kernel.st_mode;
  st->uid = of_kernel.st_uid;
  st->gid = of_kernel.st_gid;
  return true;
}

void name_removed(const cairn_stat& st) {
  if ((!S_ISFIFO(st.mode) && !S_ISSOCK(st.mode)) || st.nlink > 1) return;
  int before = errno;
  const Folder folder;
  char name[64 + sizeof kGiven];
  special_name(st, name, sizeof name);
  if (folder.fd() >= 0) real::unlinkat(folder.fd(), name, 0);
  special_name(st, name, sizeof name, kGiven);
  if (folder.fd() >= 0 && S_ISSOCK(st.mode)) real::unlinkat(folder.fd(), name, 0);
  errno = before;
}

}  // namespace posix::fifo_socket
