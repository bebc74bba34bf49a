// The common body of all writes.
#pragma once

#include "file/inode/file_system.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

// The effect of a write on an evicted file.
enum class Bytes : uint8_t {
  changed,  // the file is staged first
  staged,   // the write itself stages the file
};

// Copies bytes to [offset, offset + size) of the file and fills holes; `*written` counts the bytes
// in place. Bytes in blocks that were mapped before are not fenced. The seat has announced the
// inode. `file`, if not null, is the handle whose next access may skip the walk. became_lazy
// (shape.h): no byte counts as written.
Status write_bytes(FileSystem& fs, pool::SeatGuard& seat, const Map& map, File* file,
                   const uint8_t* source, uint64_t size, uint64_t offset, uint64_t* written,
                   Bytes bytes = Bytes::changed);

}  // namespace cairn::file
