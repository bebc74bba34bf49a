// Liveness: a kernel lock that lives exactly as long as a process, or as long as a mapping.
//
// A LivenessLock is an open-file-description lock on one byte of a lock file. Only a mapping of
// that file keeps it alive: no descriptor stays open, so no code can close it by accident
// (close_range, daemons, dup2), and it ends when the process does, however that happens. The kernel
// thus answers "is the owner of byte N alive" without PIDs, which are reused and differ between
// containers.
//
// Two locks on one byte exclude each other also within one process, because each is taken through
// an open file description of its own. Bytes may lie far beyond the end of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/status.h"

namespace cairn::media {

enum class Inheritance : uint8_t {
  own,        // a forked child does not hold it (MADV_DONTFORK): lanes
  inherited,  // it lives until the last inheritor's mapping is gone: view pins
};

class LivenessLock {
 public:
  LivenessLock() = default;
  ~LivenessLock() { release(); }
  LivenessLock(LivenessLock&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}
  LivenessLock& operator=(LivenessLock&& other) noexcept {
    if (this != &other) {
      release();
      page_ = std::exchange(other.page_, nullptr);
    }
    return *this;
  }

  // Returns true if this object holds a lock. In a child of fork an Inheritance::own lock is not
  // held although this returns true; call forget() there.
  [[nodiscard]] bool held() const { return page_ != nullptr; }
  // Releases the lock in this process. Async-signal-safe.
  void release();
  // Keeps forked children from holding it from now on (an inherited lock becomes an own one).
  void keep_from_children();
  // Drops the object's state in a forked child, where an `own` lock's page is not mapped.
  void forget() { page_ = nullptr; }

 private:
  friend Result<LivenessLock> adopt(int descriptor, uint64_t byte, Inheritance inheritance);
  friend Result<LivenessLock> try_lock_here(int descriptor, uint64_t byte, Inheritance inheritance);
  explicit LivenessLock(void* page) : page_(page) {}
  void* page_ = nullptr;
};

// Takes the lock on `byte`. EAGAIN if another owner holds it, EOPNOTSUPP on a network file system,
// else the errors of open, fcntl and mmap. The descriptor form opens the same file once more
// (through /proc/self/fd) and leaves the given descriptor alone. The file must be writable.
Result<LivenessLock> try_lock(const char* path, uint64_t byte,
                              Inheritance inheritance = Inheritance::own);
Result<LivenessLock> try_lock(int descriptor, uint64_t byte,
                              Inheritance inheritance = Inheritance::own);

// Takes the lock through the descriptor's own description, which no other code may use: the lock
// lives as long as the object, or as the descriptor if that is closed later.
Result<LivenessLock> try_lock_here(int descriptor, uint64_t byte,
                                   Inheritance inheritance = Inheritance::own);

// These take and release a lock that lives no longer than its descriptor; the first waits until the
// lock is free.
Status wait_for_lock(int descriptor, uint64_t byte);
void unlock(int descriptor, uint64_t byte);

// Keeps `byte` from being locked until unlock(); others may do so at the same time. EAGAIN: the
// byte is locked.
Status keep_unlocked(int descriptor, uint64_t byte);

// Returns true if one of the `count` bytes from `byte` on is locked, also by this process unless
// through `descriptor` itself. One system call, changes nothing.
Result<bool> is_held(int descriptor, uint64_t byte, uint64_t count = 1);

// Takes the lock with a descriptor that survives exec (no FD_CLOEXEC). The caller passes its number
// to the successor, which turns it into a LivenessLock of its own with adopt().
Result<int> try_lock_descriptor(int descriptor, uint64_t byte);
// Takes over a descriptor from try_lock_descriptor(): verifies the lock, maps, and closes the
// descriptor (only on success). EAGAIN if the lock was lost and another owner has it.
Result<LivenessLock> adopt(int descriptor, uint64_t byte,
                           Inheritance inheritance = Inheritance::own);

}  // namespace cairn::media
