// Lower: where the contents of lazy inodes (flag_lazy) lie until they are staged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "file/inode/remote.h"

namespace cairn::file {

// Implemented by tier/. Each is called without locks held, and may be called for one inode by
// several processes concurrently.
class Lower {
 public:
  virtual ~Lower() = default;
  // Fills a lazy directory with its names, then clears the flag.
  virtual Status fill_directory(uint64_t inode) = 0;
  // Reads a lazy file's bytes; the count, 0 at its end.
  virtual Result<size_t> read(uint64_t inode, void* buffer, size_t size, uint64_t offset) = 0;
  // As lseek(2) with SEEK_DATA or SEEK_HOLE in a lazy file.
  virtual Result<uint64_t> seek(uint64_t inode, uint64_t offset, int whence) = 0;
  // Copies a lazy file's bytes into the pool, then clears the flag.
  virtual Status stage(uint64_t inode) = 0;
  // The file is to be empty: clears the flag without asking for its bytes. ESTALE if the number
  // does not mean the file of `generation` any more (0: any will do; for callers that hold the file
  // open).
  virtual Status discard(uint64_t inode, uint64_t generation) = 0;
  // Makes everything at and below an inode the pool's own: before it moves to another name.
  virtual Status stage_tree(uint64_t inode) = 0;
  // Turns files that lower has as well into lazy ones, those that were used last a long time ago
  // first, until about `bytes` of the pool are theirs no more. False: no file can go. The caller
  // announces nothing, but may hold a file's append lock. After a search in vain this process
  // searches no more for a while, unless `has_drained`: a keeper has just drained what it could.
  virtual bool evict_some(uint64_t bytes, bool has_drained) = 0;
  // Where a lazy file's bytes are written, if that is not this pool; else null: it is staged first.
  virtual std::shared_ptr<Remote> remote(uint64_t inode) = 0;
};

class FileSystem;
// Makes the Lower of a file system that was attached without one, when tier/ is asked for it.
struct LowerMaker {
  std::unique_ptr<Lower> (*make)(FileSystem& fs);
};

}  // namespace cairn::file
