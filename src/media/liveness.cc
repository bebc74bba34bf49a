#include "media/liveness.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "media/file_system.h"

namespace cairn::media {
namespace {

constexpr size_t page_size = 4096;

Status set_lock(int descriptor, int command, short type, uint64_t byte) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  // The call restores errno: a held lock is usually no failure of the program's call.
  const int before = errno;
  while (fcntl(descriptor, command, &lock) != 0) {
    if (errno == EINTR) continue;
    int error = errno == EACCES ? EAGAIN : errno;
    errno = before;
    return fail(error, "lock on byte %llu: %s", static_cast<unsigned long long>(byte),
                error == EAGAIN ? "held by another process" : std::strerror(error));
  }
  return Status();
}

Status lock_byte(int descriptor, uint64_t byte) {
  return set_lock(descriptor, F_OFD_SETLK, F_WRLCK, byte);
}

// Maps a page that keeps the description, and with it its locks, alive.
Result<void*> map_page(int descriptor, Inheritance inheritance) {
  // The page is neither read nor written.
  void* page = mmap(nullptr, page_size, PROT_NONE, MAP_SHARED, descriptor, 0);
  if (page == MAP_FAILED) {
    int error = errno;
    return fail(error, "map the lock file: %s", std::strerror(error));
  }
  if (inheritance == Inheritance::own && madvise(page, page_size, MADV_DONTFORK) != 0) {
    int error = errno;
    munmap(page, page_size);
    return fail(error, "keep the lock from children: %s", std::strerror(error));
  }
  return page;
}

// Opens the file behind `descriptor` again: each lock needs an open file description of its own.
Result<int> reopen(int descriptor, int flags) {
  char name[40];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  int fresh = open(name, O_RDWR | flags);
  if (fresh < 0) {
    int error = errno;
    return fail(error, "open the lock file again: %s", std::strerror(error));
  }
  return fresh;
}

}  // namespace

void LivenessLock::release() {
  if (page_ == nullptr) return;
  int saved = errno;
  munmap(page_, page_size);
  errno = saved;
  page_ = nullptr;
}

void LivenessLock::keep_from_children() {
  if (page_ != nullptr) madvise(page_, page_size, MADV_DONTFORK);
}

Result<LivenessLock> try_lock_here(int descriptor, uint64_t byte, Inheritance inheritance) {
  CAIRN_TRY(refuse_network(descriptor, "the lock file"));
  CAIRN_TRY(lock_byte(descriptor, byte));
  auto page = map_page(descriptor, inheritance);
  if (page.ok()) return LivenessLock(*page);
  unlock(descriptor, byte);
  return page.status();
}

Result<LivenessLock> try_lock(const char* path, uint64_t byte, Inheritance inheritance) {
  int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) {
    int error = errno;
    return fail(error, "%s: lock file: %s", path, std::strerror(error));
  }
  Result<LivenessLock> lock = try_lock_here(descriptor, byte, inheritance);
  close(descriptor);
  if (!lock.ok()) return annotate(lock.status(), "%s", path);
  return lock;
}

Result<LivenessLock> try_lock(int descriptor, uint64_t byte, Inheritance inheritance) {
  CAIRN_TRY_ASSIGN(fresh, reopen(descriptor, O_CLOEXEC));
  Result<LivenessLock> lock = try_lock_here(fresh, byte, inheritance);
  close(fresh);
  return lock;
}

Status wait_for_lock(int descriptor, uint64_t byte) {
  return set_lock(descriptor, F_OFD_SETLKW, F_WRLCK, byte);
}

void unlock(int descriptor, uint64_t byte) {
  // The call fails only for an invalid descriptor.
  set_lock(descriptor, F_OFD_SETLK, F_UNLCK, byte).ignore();
}

Status keep_unlocked(int descriptor, uint64_t byte) {
  return set_lock(descriptor, F_OFD_SETLK, F_RDLCK, byte);
}

Result<bool> is_held(int descriptor, uint64_t byte, uint64_t count) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = static_cast<off_t>(count);
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) {
    int error = errno;
    return fail(error, "look for locks: %s", std::strerror(error));
  }
  return lock.l_type != F_UNLCK;
}

Result<int> try_lock_descriptor(int descriptor, uint64_t byte) {
  CAIRN_TRY_ASSIGN(fresh, reopen(descriptor, 0));
  Status status = refuse_network(fresh, "the lock file");
  if (status.ok()) status = lock_byte(fresh, byte);
  if (status.ok()) return fresh;
  close(fresh);
  return status;
}

Result<LivenessLock> adopt(int descriptor, uint64_t byte, Inheritance inheritance) {
  // Harmless when the description holds the lock already, as it should.
  CAIRN_TRY(lock_byte(descriptor, byte));
  auto page = map_page(descriptor, inheritance);
  if (!page.ok()) return page.status();
  close(descriptor);
  return LivenessLock(*page);
}

}  // namespace cairn::media
