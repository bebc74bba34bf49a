// Liveness: a kernel lock that lives exactly as long as a process, or as long as a mapping.
//
// A LivenessLock is an open-file-description lock on one byte of a lock file, kept alive by a
// mapping of that file and by nothing else: no descriptor stays open, so nobody can close it by
// accident (close_range, daemons, dup2), and it goes when the process does, however that happens.
// The kernel thus answers "is the owner of byte N alive" without PIDs, which are reused and differ
// between containers.
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

  // Whether this object holds a lock (in a child of fork: of Inheritance::own it only thinks so;
  // call forget() there).
  [[nodiscard]] bool held() const { return page_ != nullptr; }
  // Gives the lock up in this process. Async-signal-safe.
  void release();
  // From now on forked children do not hold it (an inherited lock becomes an own one).
  void keep_from_children();
  // For a forked child, where an `own` lock's page is not mapped: drops the object's state.
  void forget() { page_ = nullptr; }

 private:
  friend Result<LivenessLock> adopt(int descriptor, uint64_t byte, Inheritance inheritance);
  friend Result<LivenessLock> try_lock_here(int descriptor, uint64_t byte, Inheritance inheritance);
  explicit LivenessLock(void* page) : page_(page) {}
  void* page_ = nullptr;
};

// Takes the lock on `byte`, or fails: EAGAIN when someone holds it, EOPNOTSUPP on a network file
// system, else as open, fcntl and mmap do. The descriptor form opens the same file once more
// (through /proc/self/fd) and leaves the given descriptor alone. The file must be writable.
Result<LivenessLock> try_lock(const char* path, uint64_t byte,
                              Inheritance inheritance = Inheritance::own);
Result<LivenessLock> try_lock(int descriptor, uint64_t byte,
                              Inheritance inheritance = Inheritance::own);

// The same through the descriptor's own description, which nobody else may have: the lock lives as
// long as the object, or the descriptor if that is closed later.
Result<LivenessLock> try_lock_here(int descriptor, uint64_t byte,
                                   Inheritance inheritance = Inheritance::own);

// A lock that lives no longer than its descriptor: waits until nobody has it; gives it up.
Status wait_for_lock(int descriptor, uint64_t byte);
void unlock(int descriptor, uint64_t byte);

// Keeps `byte` from being locked until unlock(), as others may do at the same time. EAGAIN:
// somebody holds it.
Status keep_unlocked(int descriptor, uint64_t byte);

// Whether anybody (this process included, unless through `descriptor` itself) holds one of the
// `count` bytes from `byte` on. One system call, changes nothing.
Result<bool> is_held(int descriptor, uint64_t byte, uint64_t count = 1);

// The same lock held by a descriptor that survives exec (no FD_CLOEXEC): hand its number to the
// successor, who turns it into a LivenessLock of its own with adopt().
Result<int> try_lock_descriptor(int descriptor, uint64_t byte);
// Takes over a descriptor from try_lock_descriptor(): makes sure of the lock, maps, and closes the
// descriptor (only when it succeeds). EAGAIN when the lock was lost and someone else has it.
Result<LivenessLock> adopt(int descriptor, uint64_t byte,
                           Inheritance inheritance = Inheritance::own);

}  // namespace cairn::media
