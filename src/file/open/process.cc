#include "file/open/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "file/inode/open_table.h"
#include "file/open/ending.h"
#include "file/open/open_file.h"
#include "pool/lanes/free_lane.h"
#include "pool/lanes/lane_patience.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

Status prepare_fork(FileSystem& fs, ForkedLane* forked) {
  fs.fork_lock.lock();
  pool::LanePatience patience(fs.pool);
  const auto take = [&] {
    return pool::take_lane(fs.pool, media::Inheritance::inherited, &forked->lock);
  };
  auto lane = take();
  while (!lane.ok() && patience.goes_on(lane.status())) lane = take();
  forked->taken = lane.ok();
  if (!lane.ok()) return lane.status();
  forked->lane = *lane;
  // The lock is not held across the fork: fork waits for malloc, and a signal handler that has
  // interrupted malloc may open a file.
  std::lock_guard guard(fs.files_lock);
  fs.lane_of_fork = *lane;
  for (File* file = fs.files; file != nullptr; file = file->next) share_with_lane(*file, *lane);
  return Status();
}

namespace {
void close_the_rest(FileSystem& fs) {
  pool::SeatGuard seat(fs.pool);
  if (seat.ok()) close_what_waited(fs, *seat);
}
}  // namespace

void finish_fork_in_parent(FileSystem& fs, ForkedLane* forked) {
  // The child's mapping keeps the lock; if there is no child, the lane counts as a dead one's.
  forked->lock.release();
  bool closing = false;
  {
    std::lock_guard guard(fs.files_lock);
    fs.lane_of_fork = -1;
    for (File* file = fs.files; file != nullptr; file = file->next)
      closing = closing || file->closed_in_fork;
  }
  forked->taken = false;
  fs.fork_lock.unlock();
  if (closing) close_the_rest(fs);
}

void finish_fork_in_child(FileSystem& fs, ForkedLane* forked) {
  // Another thread of the parent may have held these locks, or have been about to insert a file
  // before the first one.
  new (&fs.files_lock) std::mutex;
  new (&fs.pool.growing) std::mutex;
  fs.lane_of_fork = -1;
  if (fs.files != nullptr) fs.files.load()->previous = nullptr;
  for (FileSystem::Candidates* hints : {&fs.free_inodes, &fs.free_open_files, &fs.free_pins}) {
    hints->lock.store(0);
    hints->count = 0;
  }
  bool closing = false;
  for (File* file = fs.files; file != nullptr; file = file->next) {
    // The stamps belong to the parent.
    file->stamp.store(nullptr);
    file->last_tick.store(0);
    file->was_read.store(false);
    closing = closing || file->closed_in_fork;
  }
  if (forked->taken) {
    forked->lock.keep_from_children();
    pool::move_to_lane(fs.pool, forked->lane, std::move(forked->lock));
  } else {
    pool::leave_lanes_to_parent(fs.pool);
  }
  forked->taken = false;
  fs.fork_lock.unlock();
  if (closing) close_the_rest(fs);
}

Result<int> prepare_exec(FileSystem& fs, File* const* files, size_t count) {
  int descriptor = -1;
  pool::LanePatience patience(fs.pool);
  auto lane = pool::take_lane_for_exec(fs.pool, &descriptor);
  while (!lane.ok() && patience.goes_on(lane.status()))
    lane = pool::take_lane_for_exec(fs.pool, &descriptor);
  if (!lane.ok()) return lane.status();
  for (size_t i = 0; i < count; ++i) share_with_lane(*files[i], *lane);
  return descriptor;
}

Status finish_exec(FileSystem& fs, int descriptor) {
  Pool& pool = fs.pool;
  const int probe = open(pool.lock_path.c_str(), O_RDWR | O_CLOEXEC);
  if (probe < 0) return fail(errno, "%s: %s", pool.lock_path.c_str(), strerror(errno));
  uint32_t found = UINT32_MAX;
  pool.for_each_lane([&](uint32_t lane) {
    if (pool.lanes[lane].exec_note.load() == 0) return true;
    // The byte is locked, and by no other description than the given one.
    const auto others = media::is_held(descriptor, pool::lane_lock_byte(lane));
    const auto all = media::is_held(probe, pool::lane_lock_byte(lane));
    if (!others.ok() || !all.ok() || *others || !*all) return true;
    found = lane;
    return false;
  });
  close(probe);
  if (found == UINT32_MAX) {
    return fail(EBADF, "descriptor %d keeps no lane of pool %s", descriptor, pool.path.c_str());
  }
  const bool ended = drop_lane(fs, found);
  if (ended) {
    pool.store(pool.state->sweep, 1);
    pool::SeatGuard seat(pool);
    if (seat.ok()) sweep_unlinked(fs, *seat);
  }
  pool.store(pool.lanes[found].exec_note, 0);
  pool::give_lane_up(pool, found);
  close(descriptor);
  return Status();
}

}  // namespace cairn::file
