// Lower: the source of lazy inodes' contents (flag_lazy) until they are staged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "file/inode/remote.h"

namespace cairn::file {

// The interface that tier/ implements. Callers hold no locks; several processes may call it for one
// inode concurrently.
class Lower {
 public:
  virtual ~Lower() = default;
  // Adds a lazy directory's names, then clears the flag.
  virtual Status fill_directory(uint64_t inode) = 0;
  // Reads a lazy file's bytes. Returns the count, 0 at the end of file.
  virtual Result<size_t> read(uint64_t inode, void* buffer, size_t size, uint64_t offset) = 0;
  // Does what lseek(2) does with SEEK_DATA or SEEK_HOLE, in a lazy file.
  virtual Result<uint64_t> seek(uint64_t inode, uint64_t offset, int whence) = 0;
  // Copies a lazy file's bytes into the pool, then clears the flag.
  virtual Status stage(uint64_t inode) = 0;
  // Clears the flag of a file that is to be empty, without reading its bytes. ESTALE: the number no
  // longer means the file of `generation` (0: any, for callers that hold the file open).
  virtual Status discard(uint64_t inode, uint64_t generation) = 0;
  // Stages an inode and everything below it, before it moves to another name.
  virtual Status stage_tree(uint64_t inode) = 0;
  // Makes files that lower also has lazy, least recently used first, until about `bytes` of the
  // pool are free. Returns false if no file can be evicted. The caller announces nothing, but may
  // hold a file's append lock. After a search without result this process skips searches for a
  // while, unless `has_drained`: a keeper has just drained what it could.
  virtual bool evict_some(uint64_t bytes, bool has_drained) = 0;
  // Returns the destination of writes to a lazy file whose bytes stay in another pool; null for a
  // file that is staged first.
  virtual std::shared_ptr<Remote> remote(uint64_t inode) = 0;
};

class FileSystem;
// Makes the Lower of a file system that was attached without one, when tier/ is asked for it.
struct LowerMaker {
  std::unique_ptr<Lower> (*make)(FileSystem& fs);
};

}  // namespace cairn::file
