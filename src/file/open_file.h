// File: this process's handle on an open file description. The description itself (offset, flags,
// inode) lies in the pool and is shared with whoever inherited it.
#pragma once

#include <atomic>
#include <memory>

#include "file/file_system.h"

namespace cairn::file {

// A handle's sequential writing into holes (fill_ahead.h); races are harmless.
struct FillHints {
  std::atomic<uint64_t> next{0};    // where the blocks of the last fill end, in bytes
  std::atomic<uint64_t> streak{0};  // bytes filled in sequence until there
};

struct File {
  FileSystem* fs = nullptr;
  Inode* inode = nullptr;
  uint64_t number = 0;
  uint64_t serial = 0;  // of this handle in this process, never reused
  format::OpenFile* shared = nullptr;
  uint64_t slot = 0;
  uint64_t slot_generation = 0;
  bool readable = false;
  bool writable = false;
  bool directory = false;
  bool synchronous = false;  // O_SYNC, O_DSYNC
  uint64_t pool_serial = 0;
  // Whether reading and writing may go the short way (short_way.h).
  bool reads_shortly = false;
  bool writes_shortly = false;
  std::unique_ptr<format::OpenFile> own;  // the description, in a pool that is only looked at
  bool closed_in_fork = false;            // to be closed when that is over
  bool adopted_twice = false;  // another handle of this process names the same description
  File* next = nullptr;        // FileSystem::files
  File* previous = nullptr;
  std::atomic<uint32_t> references{1};
  // Time stamps: the last tick that was stored, and where (null: into the inode itself).
  std::atomic<uint64_t> last_tick{0};
  std::atomic<format::Stamp*> stamp{nullptr};
  std::atomic<bool> was_read{false};
  FillHints fill;
  // Persistent media: up to where the end of file is known to be durable, while the shape is that.
  std::atomic<uint64_t> durable_end{0};
  std::atomic<uint64_t> durable_shape{0};

  [[nodiscard]] Map map() const { return {inode, number}; }
};

// Opens a live inode; `flags` are open(2)'s. Checks nothing about permissions. ESTALE: it is gone,
// also if the number means another file by now than the one of `generation` (0: any will do). Waits
// for one that is moving (moving.h), unless `moving` says that the caller moves it, or only reads
// what it is now.
Result<std::unique_ptr<File>> open_inode(FileSystem& fs, LocalSeat& seat, uint64_t number,
                                         int flags, uint64_t generation = 0, bool moving = false);
// The same for one that create_unnamed() has made, which becomes live by that: without a name, it
// would be ended by who found it live and not open. Frees it if it fails.
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
// Where the file lies whose record locks stand for the inode's (cairn_companion).
std::string companion_path(const FileSystem& fs, const Map& map);

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
