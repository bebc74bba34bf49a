// Io: bytes in and out of a file. The hot path's rules: no system call, no allocation, no lock, and
// no store to a line that another process writes when mapped bytes are read or overwritten.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "file/inode/file_system.h"

namespace cairn::file {

// Bytes read, short only at the end of file. A damaged map or medium: EIO, nothing counted.
Result<size_t> read_at(File& file, void* buffer, size_t size, uint64_t offset);
// Bytes written: less than `size` only when space ran out on the way (ENOSPC if none were written).
Result<size_t> write_at(File& file, const void* buffer, size_t size, uint64_t offset);

// At the end of file, whole, and never overlapping another append. `*offset` gets where it went.
Result<size_t> append(File& file, const iovec* vector, int count, uint64_t* offset);

// Makes holes in [offset, offset + size) blocks that read as zeros. Does not change the size.
// ENOSPC: what was taken until then is given back, unless the file is mapped.
Status allocate(File& file, uint64_t offset, uint64_t size);
// As allocate(), through a handle that may be for reading only: a mapping needs the blocks, and
// readers read the same as before.
Status allocate_for_mapping(File& file, uint64_t offset, uint64_t size);

// Puts bytes under an inode without touching its size, times or laziness: staging.
Status fill_bytes(FileSystem& fs, const Map& map, const void* bytes, size_t size, uint64_t offset);

// [offset, offset + size) reads as zeros: what of it has blocks keeps them.
Status zero_range(File& file, uint64_t offset, uint64_t size);

// The file is at least `size` bytes long from now on.
Status grow_size(File& file, uint64_t size);

// The next offset from `offset` on that is data (or a hole), ENXIO if there is none.
Result<uint64_t> seek_data(File& file, uint64_t offset);
Result<uint64_t> seek_hole(File& file, uint64_t offset);

}  // namespace cairn::file
