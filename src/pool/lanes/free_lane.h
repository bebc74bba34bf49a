// Free lanes: finds a lane that no process has. Processes take lanes at any moment, without a
// common lock.
#pragma once

#include "media/liveness.h"
#include "pool/core/pool.h"

namespace cairn::pool {

// Takes a free lane and holds it by a liveness lock, of a description of its own, or of
// `descriptor`'s if that is not -1. With `inherited` the lock's mapping survives fork (for a child
// that is about to be born). EBUSY: no lane is free.
Result<uint32_t> take_lane(Pool& pool, media::Inheritance inheritance, media::LivenessLock* lock,
                           int descriptor = -1);
// Takes a free lane for a process that has a lane already and is about to execute another program.
// A descriptor keeps the lane's lock across exec.
Result<uint32_t> take_lane_for_exec(Pool& pool, int* descriptor);

// The way in which a lane's liveness lock is held.
class LaneLock {
 public:
  LaneLock() = default;
  virtual ~LaneLock() = default;
  LaneLock(const LaneLock&) = delete;
  LaneLock& operator=(const LaneLock&) = delete;

  // Takes the lock. EAGAIN: another process has it.
  virtual Status take(uint32_t lane) = 0;
  // Releases a lock that was taken.
  virtual void give_back(uint32_t lane) = 0;
};

class OwnLock final : public LaneLock {
 public:
  OwnLock(const Pool& pool, media::Inheritance inheritance, media::LivenessLock* lock,
          int descriptor)
      : pool_(pool), inheritance_(inheritance), lock_(lock), descriptor_(descriptor) {}
  Status take(uint32_t lane) override;
  void give_back(uint32_t lane) override;

 private:
  const Pool& pool_;
  media::Inheritance inheritance_;
  media::LivenessLock* lock_;
  int descriptor_;
};

class LockForExec final : public LaneLock {
 public:
  // Takes locks through `lock_file`, a descriptor of the lock file.
  LockForExec(int lock_file, int* descriptor) : lock_file_(lock_file), descriptor_(descriptor) {}
  Status take(uint32_t lane) override;
  void give_back(uint32_t lane) override;

 private:
  int lock_file_;
  int* descriptor_;
};

// The common part of both. Dead lanes are recovered only if no other is free.
Result<uint32_t> take_free_lane(Pool& pool, bool for_exec, LaneLock& lock);

}  // namespace cairn::pool
