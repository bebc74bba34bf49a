// Stager reads lazy files from lower, and copies them into the pool before they are written or
// moved.
#pragma once

#include <memory>

#include "file/inode/file_system.h"
#include "tier/lower/lower.h"
#include "tier/system/source.h"
#include "tier/system/system.h"

namespace cairn::tier {

class Stager {
 public:
  explicit Stager(LowerTree& lower) : lower_(lower), fs_(lower.fs()) {}
  // Each as file::Lower has it.
  Result<size_t> read(uint64_t inode, void* buffer, size_t size, uint64_t offset);
  Result<uint64_t> seek(uint64_t inode, uint64_t offset, int whence);
  Status stage(uint64_t inode);
  Status discard(uint64_t inode, uint64_t generation);
  Status stage_tree(uint64_t inode);
  std::shared_ptr<file::Remote> remote(uint64_t inode);

 private:
  Result<size_t> read_lower(const file::Map& map, void* buffer, size_t size, uint64_t offset);
  Result<uint64_t> seek_lower(const file::Map& map, uint64_t offset, int whence);
  // Calls `look`, which reads a lazy file in lower; once more if a drain was setting the file's
  // times, or was killed while it did.
  template <typename Look>
  auto undisturbed(const file::Map& map, Look look);
  Status copy_in(const file::Map& map, uint64_t* size);
  Status copy_from(const LowerLocation& place, const file::Map& map);
  Result<std::shared_ptr<ContentSource>> source_of(const file::Map& map);
  Status stage_source(const file::Map& map, ContentSource& source);

  LowerTree& lower_;
  file::FileSystem& fs_;
};

// Opens what lower has of a lazy file, if it is the file that was imported. `base`: as for
// open_lower().
Result<sys::Descriptor> open_file(const LowerLocation& place, sys::FileStat* st,
                                  sys::Descriptor* base = nullptr);
// Copies a lazy file into the pool; does nothing if it is there. Fails as a write to it does.
Status stage(file::FileSystem& fs, uint64_t inode);

}  // namespace cairn::tier
