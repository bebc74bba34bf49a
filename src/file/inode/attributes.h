// Attributes: stat, modes, owners and times.
//
// Data-path times: a writer does not store its time into the inode, whose lines others read. It
// stamps a slot in its lane, once per tick of the coarse clock. stat reads the slots of the lanes
// that the inode's `stamps` mask names. Closing a file folds its slot into the inode.
#pragma once

#include <cstdint>

#include "base/coarse_clock.h"
#include "file/inode/file_system.h"

namespace cairn::file {

struct Attributes {
  uint64_t number = 0;
  uint64_t generation = 0;
  uint32_t mode = 0;
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t links = 0;
  uint64_t size = 0;
  uint64_t blocks = 0;  // of 4 KiB; of files above 128 MiB, node by node
  uint64_t atime = 0;   // ns
  uint64_t mtime = 0;
  uint64_t ctime = 0;
  uint64_t btime = 0;
  uint64_t rdev = 0;
  uint64_t flags = 0;
};

// The caller is inside a SeatGuard.
Attributes attributes_of(FileSystem& fs, const Map& map);

// set_times() takes these in place of a time: set the current time, or keep the old one. They lie
// outside the valid range: times before 1970 are negative, and the C API reserves both values.
inline constexpr auto time_now = static_cast<uint64_t>(INT64_MIN);
inline constexpr auto time_omit = static_cast<uint64_t>(INT64_MAX);
// The three setters return ESTALE if the number no longer means the file of `generation` (0: any).
Status set_mode(FileSystem& fs, LocalSeat& seat, const Map& map, uint32_t permissions,
                uint64_t generation = 0);
Status set_owner(FileSystem& fs, LocalSeat& seat, const Map& map, uint32_t uid, uint32_t gid,
                 uint64_t generation = 0);
Status set_times(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t atime, uint64_t mtime,
                 uint64_t generation = 0);

// Clears or sets flag bits of an inode.
Status set_flags(FileSystem& fs, uint64_t inode, uint64_t set, uint64_t clear);

// Records that the file's bytes have changed now.
void stamp_now(File& file, uint64_t tick);
inline void touch_modified(File& file) {
  const uint64_t tick = coarse_now_ns();
  if (file.last_tick.load(std::memory_order_relaxed) != tick) [[unlikely]]
    stamp_now(file, tick);
}
// Does what touch_modified() does, for a caller that has no handle on the file.
void note_modified(FileSystem& fs, Inode& inode);
// Copies all stamps of the inode into it; their holders keep them. The caller holds the inode's
// lock.
void fold_stamps(FileSystem& fs, const Map& map);
// Copies the file's stamp, and the time of its last read, into the inode.
void fold_stamp(File& file);
// Copies every stamp of a dead lane into its inode.
void fold_lane_stamps(FileSystem& fs, uint32_t lane);

}  // namespace cairn::file
