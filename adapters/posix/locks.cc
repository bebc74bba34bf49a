#include "posix/locks.h"

#include <pthread.h>
#include <sys/file.h>

#include "posix/calls.h"
#include "posix/descriptor.h"
#include "posix/log.h"
#include "posix/memory.h"
#include "posix/process.h"

namespace posix::locks {

// The companion that this process's POSIX locks on an inode are taken on.
struct Owned {
  cairn_ino ino;
  int fd;
  Owned* next;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static std::atomic<Owned*> owned{nullptr};

}  // namespace posix::locks

void posix::after_fork::free_locks() { pthread_mutex_init(&locks::mutex, nullptr); }

namespace posix::locks {

// Does the process have a companion for POSIX locks on this inode? The list is short; a racing change means
// two threads that lock and open the same file at once.
static bool owns(cairn_ino ino) { return process_companion(ino) >= 0; }

// Moving the new descriptor to a high number closes its first one, and closing any descriptor of a file
// drops the process's POSIX locks on it. So while there may be some, it stays where it is.
static int companion(Entry* entry) {
  int before = errno;
  descriptor::stay_low = owns(entry->ino);
  int fd = cairn_companion(entry->file);
  descriptor::stay_low = false;
  errno = before;
  return fd;
}

static int description_companion(Entry* entry);

int process_companion(cairn_ino ino) {
  if (owned.load() == nullptr) return -1;
  Inside inside;
  pthread_mutex_lock(&mutex);
  int fd = -1;
  for (Owned* lock = owned; lock != nullptr && fd < 0; lock = lock->next) {
    if (lock->ino == ino) fd = lock->fd;
  }
  pthread_mutex_unlock(&mutex);
  return fd;
}

static int posix_companion(Entry* entry) {
  // The description's own comes first, while it can still be moved: a fork will ask for it.
  if (!owns(entry->ino)) description_companion(entry);
  Inside inside;
  int fd = process_companion(entry->ino);
  if (fd >= 0) return fd;
  pthread_mutex_lock(&mutex);
  for (Owned* lock = owned; lock != nullptr && fd < 0; lock = lock->next) {
    if (lock->ino == entry->ino) fd = lock->fd;  // another thread was quicker
  }
  if (fd < 0) {
    fd = cairn_companion(entry->file);
    auto* lock = fd >= 0 ? static_cast<Owned*>(memory::allocate(sizeof(Owned))) : nullptr;
    if (lock != nullptr) {
      *lock = {entry->ino, fd, owned};
      owned = lock;
    } else if (fd >= 0) {
      serve::close(fd);
      fd = -ENOLCK;
    }
  }
  pthread_mutex_unlock(&mutex);
  return fd;
}

static int description_companion(Entry* entry) {
  int fd = entry->lock_fd.load();
  if (fd >= 0) return fd;
  int made = companion(entry);
  if (made < 0) return made;
  int none = -1;
  if (entry->lock_fd.compare_exchange_strong(none, made)) return made;
  table::leave(made);
  real::close(made);
  return none;
}

void adopt_process_companion(cairn_ino ino, int fd) {
  if (process_companion(ino) >= 0) return;  // named with another descriptor of the same file
  auto* lock = static_cast<Owned*>(memory::allocate(sizeof(Owned)));
  if (lock == nullptr) return;
  real::fcntl(fd, F_SETFD, reinterpret_cast<void*>(intptr_t{FD_CLOEXEC}));
  table::enter_private(fd);
  Inside inside;
  pthread_mutex_lock(&mutex);
  *lock = {ino, fd, owned};
  owned = lock;
  pthread_mutex_unlock(&mutex);
}

void descriptor_closed(Entry* entry) {
  if (owned.load() == nullptr) return;
  Inside inside;
  pthread_mutex_lock(&mutex);
  Owned* previous = nullptr;
  for (Owned* lock = owned; lock != nullptr; previous = lock, lock = lock->next) {
    if (lock->ino != entry->ino) continue;
    (previous != nullptr ? previous->next = lock->next : (owned = lock->next, nullptr));
    table::leave(lock->fd);
    real::close(lock->fd);
    memory::release(lock);
    break;
  }
  pthread_mutex_unlock(&mutex);
}

void forget_description(Entry* entry) {
  int fd = entry->lock_fd.exchange(-1);
  if (fd < 0) return;
  table::leave(fd);
  real::close(fd);
}

void share(Entry* entry) {
  if (entry->kind == Kind::kFile) description_companion(entry);
}

// Ranges count from the start: the companion has neither our offset nor our size.
static int from_start(Entry* entry, struct flock* lock) {
  int64_t base = 0;
  if (lock->l_whence == SEEK_CUR) {
    base = cairn_seek(entry->file, 0, SEEK_CUR);
  } else if (lock->l_whence == SEEK_END) {
    cairn_stat st;
    int error = cairn_fstat(entry->file, &st);
    if (error < 0) return error;
    base = static_cast<int64_t>(st.size);
  } else if (lock->l_whence != SEEK_SET) {
    return -EINVAL;
  }
  if (base < 0) return static_cast<int>(base);
  if (__builtin_add_overflow(int64_t{lock->l_start}, base, &base)) return -EOVERFLOW;
  lock->l_start = base;
  lock->l_whence = SEEK_SET;
  return 0;
}

static bool may_lock(Entry* entry, int type) {
  int access = cairn_file_get_flags(entry->file) & O_ACCMODE;
  if (type == F_RDLCK) return access != O_WRONLY;
  if (type == F_WRLCK) return access != O_RDONLY;
  return true;
}

int record(Entry* entry, int command, struct flock* lock) {
  if ((cairn_file_get_flags(entry->file) & O_PATH) != 0) return -EBADF;
  if (lock == nullptr) return -EFAULT;
  bool of_description = command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  bool query = command == F_GETLK || command == F_OFD_GETLK;
  struct flock asked = *lock;
  int error = from_start(entry, &asked);
  if (error < 0) return error;
  if (asked.l_start < 0 || (asked.l_len < 0 && asked.l_start + asked.l_len < 0)) return -EINVAL;
  if (!query && !may_lock(entry, lock->l_type)) return -EBADF;
  int fd = of_description ? description_companion(entry) : posix_companion(entry);
  if (fd < 0) return fd;
  int before = errno;
  error = real::fcntl(fd, command, &asked) == 0 ? 0 : -errno;
  errno = before;
  if (error == 0 && query) {
    // Nothing in the way: the kernel changes the type only.
    if (asked.l_type == F_UNLCK) {
      lock->l_type = F_UNLCK;
    } else {
      *lock = asked;
    }
  }
  return error;
}

}  // namespace posix::locks

namespace posix::serve {

int flock(int fd, int operation) {
  table::Use use(fd);
  if (!use) return real::flock(fd, operation);
  int what = operation & ~LOCK_NB;
  if (what != LOCK_SH && what != LOCK_EX && what != LOCK_UN) return fail(-EINVAL);
  if ((cairn_file_get_flags(use->file) & O_PATH) != 0) return fail(-EBADF);
  int companion = locks::description_companion(use.get());
  return companion < 0 ? fail(companion) : real::flock(companion, operation);
}

int lockf(int fd, int command, off_t size) {
  table::Use use(fd);
  if (!use) return real::lockf(fd, command, size);
  struct flock lock = {};
  lock.l_whence = SEEK_CUR;
  lock.l_len = size;
  lock.l_type = F_WRLCK;
  int how = F_SETLK;
  switch (command) {
    case F_TEST: {
      // The C library asks whether reading would be possible: others' read locks are not seen.
      lock.l_type = F_RDLCK;
      int error = locks::record(use.get(), F_GETLK, &lock);
      if (error < 0) return fail(error);
      return lock.l_type == F_UNLCK || lock.l_pid == getpid() ? 0 : fail(-EACCES);
    }
    case F_ULOCK:
      lock.l_type = F_UNLCK;
      break;
    case F_LOCK:
      how = F_SETLKW;
      break;
    case F_TLOCK:
      break;
    default:
      return fail(-EINVAL);
  }
  return static_cast<int>(result(locks::record(use.get(), how, &lock)));
}

}  // namespace posix::serve
