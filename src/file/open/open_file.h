// Open files: opens inodes, adopts and closes open file descriptions, for the handles of this
// process (file_handle.h).
#pragma once

#include <memory>

#include "file/inode/file_system.h"

namespace cairn::file {

// Opens a live inode; `flags` are open(2)'s. Checks nothing about permissions. ESTALE: it is gone,
// also if the number means another file by now than the one of `generation` (0: any will do). Waits
// for one that is moving (moving.h), unless `moving` says that the caller moves it, or only reads
// what it is now.
Result<std::unique_ptr<File>> open_inode(FileSystem& fs, LocalSeat& seat, uint64_t number,
                                         int flags, uint64_t generation = 0, bool moving = false);
// Opens an inode that create_unnamed() has made, which becomes live by that: without a name, a
// process that found it live and not open would end it. Frees it if it fails.
Result<std::unique_ptr<File>> open_unnamed(FileSystem& fs, LocalSeat& seat, const Map& map,
                                           int flags);
// A handle on a description that exists. EBADF if it is gone.
Result<std::unique_ptr<File>> adopt(FileSystem& fs, LocalSeat& seat, uint64_t slot,
                                    uint64_t generation);
// This process lets go of the description; the last holder's letting go ends it, and frees an
// unlinked file's blocks.
void close_file(LocalSeat& seat, std::unique_ptr<File> file);
// After a fork, in both processes: what was closed meanwhile.
void close_what_waited(FileSystem& fs, LocalSeat& seat);

// Before fork and exec: lane `lane` (a new one) holds what this process holds.
void share_with_lane(FileSystem& fs, uint32_t lane);
void share_with_lane(const File& file, uint32_t lane);
// The description's lock, held for a read or write at the shared offset.
class OffsetGuard {
 public:
  OffsetGuard(File& file, LocalSeat& seat);
  ~OffsetGuard();
  OffsetGuard(const OffsetGuard&) = delete;
  OffsetGuard& operator=(const OffsetGuard&) = delete;

 private:
  File& file_;
};

}  // namespace cairn::file
