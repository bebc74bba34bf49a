// Media: the medium of a pool, and the files or device ranges that are its segments.
//
//   recognise()       what a path is, and what it promises
//   create_segment()  a new segment file, private to its user, sparse
//   open_segment()    an existing one, or a dax device
//   reserve()         room for a range, so that no store there can fail later
//   map() / unmap()   the segment in this process's memory
//   remove_segment()
//
// Every refusal is one clear text (last_detail): the path, the cause, and the advice. None of this
// is for the data path: it allocates and makes system calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "media/file_system.h"
#include "persist/core/granularity.h"

namespace cairn::media {

enum class MediumKind : uint8_t {
  devdax = 1,  // a character device over persistent memory
  fsdax = 2,   // a file system on persistent memory, mapped with MAP_SYNC
  tmpfs = 3,   // memory that the next boot does not know
  file = 4,    // any local file system: page cache and msync
};

[[nodiscard]] const char* name_of(MediumKind kind);

struct Description {
  MediumKind kind = MediumKind::file;
  persist::Granularity granularity = persist::Granularity::page;
  bool is_volatile = false;      // nothing survives power loss; say so wherever durability is shown
  bool large_pages = false;      // a first touch through the mapping costs nothing
  uint64_t mapping_unit = 4096;  // offsets and sizes of mappings are multiples of this
  // The size of a device or an existing file; for a directory, the free space of its file system.
  uint64_t size = 0;
  std::string file_system;  // "tmpfs", "ext4", "devdax", …
  std::string notice;       // a message for the user about this medium; usually empty
};

// Inspects a directory, a segment file or a dax device. Fails with a clear text for anything that
// cannot hold a pool: ENOENT and EACCES as the system returns them, EOPNOTSUPP for network file
// systems, hugetlbfs and block devices, ENODEV for a dax device in another mode, EROFS for a
// read-only file system.
Result<Description> recognise(const char* path, const SystemRoot& root = SystemRoot());

// Inspects an open dax device, without asking libpmem2: what an attach has to know.
Result<Description> recognise_device(int descriptor, const char* path,
                                     const SystemRoot& root = SystemRoot());

// Creates a file of `size` bytes, mode 0600, sparse; returns its descriptor (close-on-exec). EEXIST
// if there is one. On failure nothing is left behind. The second form takes a name in an open
// directory; errors name `path`.
Result<int> create_segment(const char* path, uint64_t size);
Result<int> create_segment(int directory, const char* name, const char* path, uint64_t size);

enum class Access : uint8_t { read_only, read_write };
enum class SegmentOwner : uint8_t { me, anyone };
// Opens a segment file or a dax device. SegmentOwner::me refuses (EPERM) files of others and files
// that others may write; EINVAL for anything but a regular file or a character device. The second
// form is like that of create_segment.
Result<int> open_segment(const char* path, Access access = Access::read_write,
                         SegmentOwner owner = SegmentOwner::me);
Result<int> open_segment(int directory, const char* name, const char* path, Access access,
                         SegmentOwner owner = SegmentOwner::me);

// Returns the size of the segment: a file's, or a device's.
Result<uint64_t> segment_size(int descriptor, const SystemRoot& root = SystemRoot());

// Reserves room for [offset, offset + size) on the medium (nothing to do on devdax). ENOSPC or
// ENOMEM come from here and never as SIGBUS from a store. Works in pieces that signals may
// interrupt; after a failure the pieces before it stay reserved, release() returns them.
Status reserve(int descriptor, uint64_t offset, uint64_t size);
// Releases the room of a range; it reads as zeros until it is reserved anew.
Status release(int descriptor, uint64_t offset, uint64_t size);

struct Mapping {
  uint8_t* base = nullptr;
  size_t size = 0;
};
// Maps a range of the segment, aligned to 2 MiB in memory where its pages are large, and kept out
// of core dumps; fsdax with MAP_SYNC. Offset and size must be multiples of the medium's mapping
// unit (devdax refuses less).
Result<Mapping> map(int descriptor, const Description& medium, uint64_t offset, uint64_t size,
                    Access access = Access::read_write);
// Unmaps; leaves `mapping` empty.
void unmap(Mapping& mapping);

Status remove_segment(const char* path);

}  // namespace cairn::media
