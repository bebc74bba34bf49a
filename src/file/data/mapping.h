// Mapping: mmap(2) of a file maps the pool's own pages, so processes see each other's stores. Holes
// up to the end of file are filled first, so that no store can fail. The blocks stay pinned, and
// part of the file, until the last process that inherited the mapping is gone (truncate.h). Pages
// beyond the end of file raise SIGBUS, as in any mapping, until grow() places them.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "file/inode/file_system.h"
#include "file/inode/pins.h"

namespace cairn::file {

// The mappings of this process. fork copies them together with the memory that they describe.
class Mappings {
 public:
  // Does what mmap(2) does. EACCES: the open mode forbids it. ENOMEM: holes cannot be filled.
  // ENODEV: not a regular file.
  Result<void*> map(File& file, void* address, size_t size, int protection, int flags,
                    uint64_t offset);
  // Maps the bytes by which the file has grown into [address, address + size) of a mapping of it,
  // with this protection. Returns how many bytes from `address` on lie within the file now. EAGAIN:
  // the file was cut meanwhile.
  Result<uint64_t> grow(File& file, void* address, size_t size, int protection);
  // Does what munmap(2) does, for any range.
  Status unmap(FileSystem& fs, void* address, size_t size);
  // Forgets the range, over which something else has been mapped.
  void replaced(FileSystem& fs, void* address, size_t size);
  // Makes stores through mappings in the range durable.
  Status sync(FileSystem& fs, void* address, size_t size);
  // Records a change of the files that are mapped shared in the range, before stores through these
  // mappings become possible. EACCES: one of the files was not open for writing.
  Status make_writable(FileSystem& fs, void* address, size_t size);
  // A fork calls these around it, so that the child finds neither the lock held by a thread that it
  // does not have, nor ranges half changed.
  void hold() { lock_.lock(); }
  void release() { lock_.unlock(); }
  // Returns true if a part of the range belongs to a mapping of a file.
  bool contains(const void* address, size_t size);

 private:
  struct MappedRange {
    uintptr_t end = 0;
    uint64_t inode = 0;
    uintptr_t placed = 0;  // blocks are mapped up to here, nothing beyond
    uint64_t shift = 0;    // added to an address, gives the offset in the file
    int flags = 0;
    bool writable = false;  // the file was open for writing
    std::shared_ptr<PinHandle> pin;
  };
  // Ranges by their begin; they do not overlap.
  using Ranges = std::map<uintptr_t, MappedRange>;

  // Returns the first range that reaches beyond `at`. The caller holds lock_, as for forget() and
  // split().
  Ranges::iterator first_beyond(uintptr_t at);
  // Removes the ranges and returns them.
  std::vector<MappedRange> forget(const void* address, size_t size);
  // Releases the ranges' pins, and the blocks of their files that only the mappings kept. The
  // caller does not hold lock_.
  void let_go(FileSystem& fs, std::vector<MappedRange> dropped);
  // Returns a pin on the inode, shared with its other mappings: each pin costs a descriptor, and a
  // lock that the kernel passes when it looks for others. The caller does not hold lock_.
  Result<std::shared_ptr<PinHandle>> pin_of(FileSystem& fs, uint64_t number);
  // Splits the range that reaches over `at`.
  void split(uintptr_t at);

  std::mutex lock_;
  Ranges ranges_;  // a program may have tens of thousands
  std::map<uint64_t, std::weak_ptr<PinHandle>> pins_;
};

}  // namespace cairn::file
