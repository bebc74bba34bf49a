// AttachLock: the kernel lock that serialises first attach, last detach and growth. Its one
// descriptor of the lock file serves all questions about liveness locks meanwhile.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "pool/core/pool.h"

namespace cairn::pool {

class AttachLock {
 public:
  AttachLock() = default;
  ~AttachLock() { release(); }
  AttachLock(AttachLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  AttachLock& operator=(AttachLock&&) = delete;
  AttachLock(const AttachLock&) = delete;
  AttachLock& operator=(const AttachLock&) = delete;

  // Unlocks explicitly: a child that another thread forks meanwhile has the description too.
  void release();
  // Returns the descriptor for media::is_held and the like; other locks taken through it are
  // independent.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  friend Result<AttachLock> lock_attach(const std::string& lock_path,
                                        const std::string& path_for_messages);
  explicit AttachLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

// Waits for the lock of the file that has this name. ENOENT: there is none, or it was removed
// meanwhile.
Result<AttachLock> lock_attach(const std::string& lock_path, const std::string& path_for_messages);
// Waits for a pool's lock. ENOENT also if another pool has the name now: this one has been removed
// since it was opened.
Result<AttachLock> lock_attach(const Pool& pool);

// Returns true if any lane's liveness lock is held.
Result<bool> anybody_attached(int descriptor);
Result<bool> anybody_attached(const std::string& lock_path);

// Asks whether the pool may be removed, while no process is attached to it and none can attach. It
// may be opened for reading.
using MayGo = std::function<bool()>;
// Checks the pool `path`: EBUSY if a process is attached, ECANCELED if it may not be removed. The
// result holds until the lock is released.
Status check_unused(const AttachLock& lock, const std::string& path, const MayGo& may_go);

// Opens a descriptor for questions about liveness locks; -1 if there is none.
int open_lock_file(const Pool& pool);
void close_lock_file(int descriptor);

}  // namespace cairn::pool
