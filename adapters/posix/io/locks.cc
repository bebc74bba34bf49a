#include "posix/io/locks.h"

#include <pthread.h>
#include <sys/file.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/fd/descriptor.h"
#include "posix/io/calls.h"
#include "posix/path/result.h"

namespace posix::locks {

// The companion for this process's POSIX locks on an inode. It stays open while calls use its
// number: the number might be another file's before such a call comes to the kernel.
struct Owned {
  cairn_ino ino;
  int fd;
  int users;
  Owned* next;
};
static pthread_mutex_t mutex =
    PTHREAD_MUTEX_INITIALIZER;  // guards the list and the making of companions
static std::atomic<Owned*> owned{nullptr};

void after_fork() {
  pthread_mutex_init(&mutex, nullptr);
  for (Owned* lock = owned; lock != nullptr; lock = lock->next) lock->users = 0;
}

// Holds the mutex and holds back signals, whose handlers may lock.
class Guard {
 public:
  Guard() { pthread_mutex_lock(&mutex); }
  ~Guard() { pthread_mutex_unlock(&mutex); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Inside inside_;
};

// The functions named ..._held are called with a Guard.
static Owned* find_held(cairn_ino ino) {
  Owned* lock = owned;
  while (lock != nullptr && lock->ino != ino) lock = lock->next;
  return lock;
}

static int description_companion_held(Entry* entry) {
  int fd = entry->lock_fd.load();
  if (fd >= 0) return fd;
  int before = errno;
  // Moving the new descriptor to a high number closes its first one, and closing any descriptor of
  // a file releases the process's POSIX locks on it. So while there may be some, the descriptor
  // stays at its number.
  descriptor::stay_low = find_held(entry->ino) != nullptr;
  fd = cairn_companion(entry->file);
  descriptor::stay_low = false;
  errno = before;
  if (fd >= 0) entry->lock_fd = fd;
  return fd;
}

static int description_companion(Entry* entry) {
  int fd = entry->lock_fd.load();
  if (fd >= 0) return fd;
  Guard guard;
  return description_companion_held(entry);
}

int process_companion(cairn_ino ino) {
  if (owned.load() == nullptr) return -1;
  Guard guard;
  Owned* lock = find_held(ino);
  return lock != nullptr ? lock->fd : -1;
}

// Returns false if memory is out.
static bool list_held(cairn_ino ino, int fd) {
  auto* lock = static_cast<Owned*>(memory::allocate(sizeof(Owned)));
  if (lock == nullptr) return false;
  *lock = {ino, fd, 0, owned};
  owned = lock;
  return true;
}

static Owned* posix_companion_held(Entry* entry, int* error) {
  Owned* lock = find_held(entry->ino);
  if (lock != nullptr) return lock;
  // The description's own companion comes first, while it can still be moved: a fork will need it.
  description_companion_held(entry);
  int fd = cairn_companion(entry->file);
  if (fd < 0) {
    *error = fd;
  } else if (!list_held(entry->ino, fd)) {
    table::leave(fd);
    real::close(fd);
    *error = -ENOLCK;
  }
  return find_held(entry->ino);
}

void adopt_process_companion(cairn_ino ino, int fd) {
  if (process_companion(ino) >= 0) return;  // another descriptor of the same file has brought it
  real::fcntl(fd, F_SETFD, reinterpret_cast<void*>(intptr_t{FD_CLOEXEC}));
  table::enter_private(fd);
  Guard guard;
  list_held(ino, fd);
}

// Releases all POSIX locks of the process on the file.
static void let_go_held(Owned* lock) {
  if (lock->users != 0) {
    struct flock all = {};
    all.l_type = F_UNLCK;
    real::fcntl(lock->fd, F_SETLK, &all);
    return;
  }
  if (owned == lock) {
    owned = lock->next;
  } else {
    Owned* previous = owned;
    while (previous->next != lock) previous = previous->next;
    previous->next = lock->next;
  }
  table::leave(lock->fd);
  real::close(lock->fd);
  memory::release(lock);
}

void descriptor_closed(Entry* entry) {
  if (owned.load() == nullptr) return;
  Guard guard;
  if (Owned* lock = find_held(entry->ino)) let_go_held(lock);
}

// Makes a POSIX lock's call on the companion of fd's file. Other threads continue while it waits.
static int on_posix_companion(Entry* entry, int fd, int command, struct flock* asked) {
  Owned* lock = nullptr;
  {
    Guard guard;
    int error = 0;
    lock = posix_companion_held(entry, &error);
    if (lock == nullptr) return error;
    ++lock->users;
  }
  int error = real::fcntl(lock->fd, command, asked) == 0 ? 0 : -errno;
  Guard guard;
  --lock->users;
  // Another thread may have closed the file meanwhile. It removed the file from the table before it
  // looked for users. As in the kernel, the lock is released then.
  if (table::peek(fd) != entry) {
    let_go_held(lock);
    if (command != F_GETLK) error = -EBADF;
  }
  return error;
}

void share(Entry* entry) {
  if (entry->kind == Kind::kFile) description_companion(entry);
}

// Makes the range count from the start, because the companion has neither our offset nor our size.
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

int record(Entry* entry, int number, int command, struct flock* lock) {
  if ((cairn_file_get_flags(entry->file) & O_PATH) != 0) return -EBADF;
  bool of_description = command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  bool query = command == F_GETLK || command == F_OFD_GETLK;
  struct flock asked;
  int error = user_memory::read(&asked, lock);
  if (error == 0) error = from_start(entry, &asked);
  if (error < 0) return error;
  if (asked.l_start >= 0 && asked.l_len > 0 && asked.l_len - 1 > INT64_MAX - asked.l_start)
    return -EOVERFLOW;
  if (asked.l_start < 0 || (asked.l_len < 0 && asked.l_start + asked.l_len < 0)) return -EINVAL;
  if (!query && !may_lock(entry, asked.l_type)) return -EBADF;
  int before = errno;
  if (of_description) {
    int fd = description_companion(entry);
    if (fd < 0) return fd;
    error = real::fcntl(fd, command, &asked) == 0 ? 0 : -errno;
  } else {
    error = on_posix_companion(entry, number, command, &asked);
  }
  errno = before;
  if (error == 0 && query) {
    // The lock is free: the kernel changes only the type.
    error = asked.l_type == F_UNLCK ? user_memory::write(&lock->l_type, asked.l_type)
                                    : user_memory::write(lock, asked);
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
      // The C library tests whether a read lock is possible, so read locks of others do not count.
      lock.l_type = F_RDLCK;
      int error = locks::record(use.get(), fd, F_GETLK, &lock);
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
  return static_cast<int>(result(locks::record(use.get(), fd, how, &lock)));
}

}  // namespace posix::serve
