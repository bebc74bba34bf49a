#include "pool/lanes/free_lane.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "pool/lanes/no_seat.h"
#include "pool/lanes/recover.h"

namespace cairn::pool {
namespace {

// Stores the process's name, for people who look at the pool.
void note_command(Pool& pool, format::Lane& lane) {
  char name[sizeof lane.command] = {};
  static_assert(sizeof name >= 16, "what the kernel writes");
  prctl(PR_GET_NAME, name);
  for (size_t i = 0; i < std::size(lane.command); ++i) {
    uint64_t word;
    std::memcpy(&word, name + i * sizeof word, sizeof word);
    pool.store(lane.command[i], word);
  }
}

// Returns the number of lanes reserved for processes that are about to execute another program.
// Such a process has a lane already, and others may wait for what waits for it. If there are few
// lanes, none is reserved.
uint32_t lanes_for_exec(const Pool& pool) { return pool.lane_count < 16 ? 0 : pool.lane_count / 8; }

bool leaves_enough(const Pool& pool, uint32_t least) {
  uint32_t taken = 0;
  pool.for_each_lane([&taken](uint32_t) {
    ++taken;
    return true;
  });
  return taken + least < pool.lane_count;
}

}  // namespace

Status OwnLock::take(uint32_t lane) {
  const uint64_t byte = lane_lock_byte(lane);
  auto taken = descriptor_ >= 0 ? media::try_lock_here(descriptor_, byte, inheritance_)
                                : media::try_lock(pool_.lock_path.c_str(), byte, inheritance_);
  if (taken.ok()) *lock_ = std::move(*taken);
  return taken.status();
}

void OwnLock::give_back(uint32_t lane) {
  lock_->release();
  // The descriptor's description, which other locks keep alive, holds the lock as well.
  if (descriptor_ >= 0) media::unlock(descriptor_, lane_lock_byte(lane));
}

Status LockForExec::take(uint32_t lane) {
  auto taken = media::try_lock_descriptor(lock_file_, lane_lock_byte(lane));
  if (taken.ok()) *descriptor_ = *taken;
  return taken.status();
}

void LockForExec::give_back(uint32_t /*lane*/) {
  close(*descriptor_);
  *descriptor_ = -1;
}

Result<uint32_t> take_free_lane(Pool& pool, bool for_exec, LaneLock& lock) {
  const uint32_t least = for_exec ? 0 : lanes_for_exec(pool);
  if (!leaves_enough(pool, least)) recover_the_dead(pool);
  if (!leaves_enough(pool, least)) return no_seat(pool);
  for (int pass = 0; pass < 2; ++pass) {
    for (uint32_t l = 0; l < pool.lane_count; ++l) {
      format::Lane& lane = pool.lanes[l];
      const bool listed = (pool.state->attached[l / 64].load() >> (l % 64) & 1) != 0;
      if (listed && pass == 0) continue;
      if (listed) recover_if_dead(pool, l);
      if ((lane.generation.load() & 1) != 0) continue;
      if (Status status = lock.take(l); !status.ok()) {
        if (status.code() == EAGAIN) continue;
        return status;
      }
      const uint64_t generation = lane.generation.load();
      if ((generation & 1) != 0) {
        // Another process was faster, and has died since. While its lock is held it looks alive,
        // and its waiters wait.
        lock.give_back(l);
        continue;
      }
      pool.store(lane.pid, static_cast<uint64_t>(getpid()));
      note_command(pool, lane);
      pool.store(lane.exec_note, for_exec ? 1 : 0);
      pool.fetch_or(pool.state->attached[l / 64], 1ULL << (l % 64));
      pool.store(lane.generation, generation + 1);
      return l;
    }
  }
  return no_seat(pool);
}

Result<uint32_t> take_lane(Pool& pool, media::Inheritance inheritance, media::LivenessLock* lock,
                           int descriptor) {
  OwnLock own(pool, inheritance, lock, descriptor);
  return take_free_lane(pool, false, own);
}

Result<uint32_t> take_lane_for_exec(Pool& pool, int* descriptor) {
  const int fd = open(pool.lock_path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return fail(errno, "%s: %s", pool.lock_path.c_str(), strerror(errno));
  LockForExec kept(fd, descriptor);
  auto lane = take_free_lane(pool, true, kept);
  close(fd);
  return lane;
}

}  // namespace cairn::pool
