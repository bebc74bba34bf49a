// File: this process's handle on an open file description. The description itself (offset, flags,
// inode) lies in the pool and is shared with the processes that inherited it (open_table.h).
#pragma once

#include <atomic>
#include <memory>

#include "file/map/map.h"
#include "format/open_file.h"

namespace cairn::file {

// The state of a handle's sequential writing into holes (fill_ahead.h); races are harmless.
struct FillHints {
  std::atomic<uint64_t> next{0};    // where the blocks of the last fill end, in bytes
  std::atomic<uint64_t> streak{0};  // bytes filled in sequence until there
};

class FileSystem;

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
  // Flags: reads and writes may take the fast path (fast_path.h).
  bool reads_fast = false;
  bool writes_fast = false;
  std::unique_ptr<format::OpenFile> own;  // the description, in a pool that is only looked at
  bool closed_in_fork = false;            // close it when the fork is over
  bool adopted_twice = false;  // another handle of this process names the same description
  File* next = nullptr;        // FileSystem::files
  File* previous = nullptr;
  std::atomic<uint32_t> references{1};
  // The last tick that was stamped, and the stamp's address (null: the inode itself).
  std::atomic<uint64_t> last_tick{0};
  std::atomic<format::Stamp*> stamp{nullptr};
  std::atomic<bool> was_read{false};
  FillHints fill;
  // Persistent media: the end of file is known to be durable up to here, while the shape is this
  // one.
  std::atomic<uint64_t> durable_end{0};
  std::atomic<uint64_t> durable_shape{0};

  [[nodiscard]] Map map() const { return {inode, number}; }
};

}  // namespace cairn::file
