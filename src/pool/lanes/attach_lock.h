// AttachLock: the kernel lock on which first attach, last detach and growth take turns; and one
// descriptor of the lock file for all that is asked about liveness locks meanwhile.
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

  // Unlocks in so many words: a child that another thread forks meanwhile has the description too.
  void release();
  // For media::is_held and the like; what is locked through it besides goes on its own way.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  friend Result<AttachLock> lock_attach(const std::string& lock_path, const std::string& shown);
  explicit AttachLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

// Waits for the lock of the file that has this name. ENOENT: there is none, or it was removed
// meanwhile. `shown`: the path that errors name.
Result<AttachLock> lock_attach(const std::string& lock_path, const std::string& shown);
// ENOENT also if the name is another pool's now: this one has been removed since it was opened.
Result<AttachLock> lock_attach(const Pool& pool);

// Is any lane's liveness lock held?
Result<bool> anybody_attached(int descriptor);
Result<bool> anybody_attached(const std::string& lock_path);

// Asked while no process is attached to a pool, and none can attach: may it be removed? It may be
// opened for looking.
using MayGo = std::function<bool()>;
// Of the pool `path`: EBUSY if a process is attached, ECANCELED if it may not be removed. Holds
// until the lock is given back.
Status check_unused(const AttachLock& lock, const std::string& path, const MayGo& may_go);

// A descriptor to ask about liveness locks with; -1 if there is none.
int open_lock_file(const Pool& pool);
void close_lock_file(int descriptor);

}  // namespace cairn::pool
