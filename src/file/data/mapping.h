// Mapping: mmap(2) of a file hands out the pool's own pages, so stores through one process's
// mapping are what another one reads. Holes up to the end of file are filled first, so that no
// store can fail; the blocks stay pinned, and the file's, until the last inheritor of the mapping
// has gone (truncate.h). What lies beyond the end of file is SIGBUS, as in any mapping, until
// grow() is called for it.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "file/inode/file_system.h"
#include "file/inode/pins.h"

namespace cairn::file {

// This process's mappings. Copied by fork together with what it describes.
class Mappings {
 public:
  // As mmap(2); EACCES for what the open mode forbids, ENOMEM if holes cannot be filled, ENODEV for
  // what is no regular file.
  Result<void*> map(File& file, void* address, size_t size, int protection, int flags,
                    uint64_t offset);
  // Places what the file has grown by into [address, address + size) of a mapping of it, with this
  // protection, and says how many bytes from `address` on are within the file now. EAGAIN: the file
  // was cut meanwhile.
  Result<uint64_t> grow(File& file, void* address, size_t size, int protection);
  // As munmap(2), for any range.
  Status unmap(FileSystem& fs, void* address, size_t size);
  // Something else has been mapped over the range.
  void replaced(FileSystem& fs, void* address, size_t size);
  // Makes stores through mappings in the range durable.
  Status sync(FileSystem& fs, void* address, size_t size);
  // Before stores through mappings in the range become possible: they count as a change of the
  // files that are mapped shared there. EACCES: one of these was not open for writing.
  Status make_writable(FileSystem& fs, void* address, size_t size);
  // Around a fork, so that the child finds neither the lock held by a thread that it does not have,
  // nor ranges half changed.
  void hold() { lock_.lock(); }
  void release() { lock_.unlock(); }
  // Does any of it belong to a mapping of ours?
  bool contains(const void* address, size_t size);

 private:
  struct Range {
    uintptr_t end = 0;
    uint64_t inode = 0;
    uintptr_t placed = 0;  // blocks lie up to here, beyond it nothing
    uint64_t shift = 0;    // what makes an offset in the file of an address
    int flags = 0;
    bool writable = false;  // the file was open for writing
    std::shared_ptr<PinHandle> pin;
  };
  // By where they begin. They do not overlap.
  using Ranges = std::map<uintptr_t, Range>;

  // The first that reaches beyond `at`. The caller holds lock_, here and in what follows.
  Ranges::iterator first_beyond(uintptr_t at);
  // What lay there.
  std::vector<Range> forget(const void* address, size_t size);
  // With them go their pins, and of their files what only the mappings kept. The caller does not
  // hold lock_.
  void let_go(FileSystem& fs, std::vector<Range> dropped);
  // A pin on the inode: the one of its other mappings, if there are some. Each is a descriptor, and
  // a lock that the kernel passes whenever it looks for others. The caller does not hold lock_.
  Result<std::shared_ptr<PinHandle>> pin_of(FileSystem& fs, uint64_t number);
  // None reaches over `at`.
  void split(uintptr_t at);

  std::mutex lock_;
  Ranges ranges_;  // a program may have tens of thousands
  std::map<uint64_t, std::weak_ptr<PinHandle>> pins_;
};

}  // namespace cairn::file
