// The body of every write.
#pragma once

#include "file/inode/file_system.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

// What a write is to an evicted file.
enum class Bytes : uint8_t {
  changed,  // it is staged first
  staged,   // the write is what stages it
};

// Copies bytes to [offset, offset + size) of the file and fills holes; `*written` counts what is in
// place. What was mapped before is not fenced. The seat has announced the inode. `file`, if there
// is one, is the handle whose next access may be spared the walk. became_lazy (shape.h): nothing
// counts as written.
Status write_bytes(FileSystem& fs, pool::SeatGuard& seat, const Map& map, File* file,
                   const uint8_t* source, uint64_t size, uint64_t offset, uint64_t* written,
                   Bytes bytes = Bytes::changed);

}  // namespace cairn::file
