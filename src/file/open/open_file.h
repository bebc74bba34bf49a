// Open files: opens inodes, adopts and closes open file descriptions, for the handles of this
// process (file_handle.h).
#pragma once

#include <memory>

#include "file/inode/file_system.h"

namespace cairn::file {

// Opens a live inode; `flags` are open(2)'s. Checks no permissions. ESTALE: the inode is gone, or
// the number no longer means the file of `generation` (0: any). Waits for an inode that is moving
// (moving.h), unless `moving` says that the caller moves it, or only reads its current state.
Result<std::unique_ptr<File>> open_inode(FileSystem& fs, LocalSeat& seat, uint64_t number,
                                         int flags, uint64_t generation = 0, bool moving = false);
// Opens an inode that create_unnamed() has made, and makes it live in the same step: another
// process that found it live, unnamed and not open would end it. Frees the inode if it fails.
Result<std::unique_ptr<File>> open_unnamed(FileSystem& fs, LocalSeat& seat, const Map& map,
                                           int flags);
// Makes a handle on an existing description. EBADF if the description is gone.
Result<std::unique_ptr<File>> adopt(FileSystem& fs, LocalSeat& seat, uint64_t slot,
                                    uint64_t generation);
// Releases this process's hold on the description. The last holder's release ends the description,
// and frees an unlinked file's blocks.
void close_file(LocalSeat& seat, std::unique_ptr<File> file);
// Closes the files that were to be closed during the fork; called after it in both processes.
void close_what_waited(FileSystem& fs, LocalSeat& seat);

// Makes lane `lane`, a new one, hold what this process holds, before fork and exec.
void share_with_lane(FileSystem& fs, uint32_t lane);
void share_with_lane(const File& file, uint32_t lane);
// Holds the description's lock for a read or write at the shared offset.
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
