#include "posix/library_copies.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "posix/calls.h"
#include "posix/descriptor.h"
#include "posix/process.h"

namespace posix {

int changed_copy(const Found& found, const uint64_t* dropped, size_t count) {
  constexpr int64_t kIgnored = 0x60000001;  // a tag that no loader knows
  const int copy = copy_to_memory(found.st.ino, found.st.generation, found.name);
  for (size_t i = 0; copy >= 0 && i < count; ++i) {
    if (real::pwrite(copy, &kIgnored, sizeof kIgnored, static_cast<off_t>(dropped[i])) < 0) {
      const int error = -errno;
      descriptor::close_private(copy);
      return error;
    }
  }
  return copy;
}

struct Kept {
  cairn_ino ino;
  uint64_t generation;
  int64_t changed;
  int fd;
  char* path;
  Kept* next;
};
static Kept* all_kept = nullptr;
static pthread_mutex_t kept_mutex = PTHREAD_MUTEX_INITIALIZER;

int kept_copy(const Found& found, const char* path, const uint64_t* dropped, size_t count) {
  pthread_mutex_lock(&kept_mutex);
  Kept* one = all_kept;
  while (one != nullptr && (one->ino != found.st.ino || one->generation != found.st.generation ||
                            one->changed != found.st.mtime_ns))
    one = one->next;
  int fd = one == nullptr ? -ENOMEM : one->fd;
  if (one == nullptr && (one = static_cast<Kept*>(malloc(sizeof *one))) != nullptr) {
    fd = changed_copy(found, dropped, count);
    if (fd >= 0) {
      *one = {found.st.ino, found.st.generation, found.st.mtime_ns, fd, strdup(path), all_kept};
      all_kept = one;
    } else {
      free(one);
    }
  }
  pthread_mutex_unlock(&kept_mutex);
  return fd;
}

const char* path_of_copy(int fd) {
  pthread_mutex_lock(&kept_mutex);
  const Kept* one = all_kept;
  while (one != nullptr && one->fd != fd) one = one->next;
  const char* path = one == nullptr ? nullptr : one->path;
  pthread_mutex_unlock(&kept_mutex);
  return path;
}

void after_fork::free_libraries() { pthread_mutex_init(&kept_mutex, nullptr); }

}  // namespace posix
