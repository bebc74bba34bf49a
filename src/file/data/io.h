// Io: reads and writes the bytes of a file. Rules of the hot path, when mapped bytes are read or
// overwritten: no system call, no allocation, no lock, and no store to a line that another process
// writes.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "file/inode/file_system.h"

namespace cairn::file {

// Returns the number of bytes read, less than `size` only at the end of file. EIO: the map or the
// medium is damaged; nothing counts as read.
Result<size_t> read_at(File& file, void* buffer, size_t size, uint64_t offset);
// Returns the number of bytes written, less than `size` only if space ran out on the way (ENOSPC if
// none were written).
Result<size_t> write_at(File& file, const void* buffer, size_t size, uint64_t offset);

// Appends all bytes at the end of file; no two appends overlap. `*offset` receives their position.
Result<size_t> append(File& file, const iovec* vector, int count, uint64_t* offset);

// Turns holes in [offset, offset + size) into blocks that read as zeros, without changing the size.
// ENOSPC: the blocks taken until then are returned, unless the file is mapped.
Status allocate(File& file, uint64_t offset, uint64_t size);
// Does what allocate() does, through a handle that may be for reading only: a mapping needs the
// blocks, and readers see no difference.
Status allocate_for_mapping(File& file, uint64_t offset, uint64_t size);

// Stores bytes of a file without touching its size, times or laziness, for staging.
Status fill_bytes(FileSystem& fs, const Map& map, const void* bytes, size_t size, uint64_t offset);

// Makes [offset, offset + size) read as zeros; mapped parts keep their blocks.
Status zero_range(File& file, uint64_t offset, uint64_t size);

// Grows the file to at least `size` bytes.
Status grow_size(File& file, uint64_t size);

// Returns the next offset from `offset` on that is data (or a hole); ENXIO if there is none.
Result<uint64_t> seek_data(File& file, uint64_t offset);
Result<uint64_t> seek_hole(File& file, uint64_t offset);

}  // namespace cairn::file
