// Words: 64-bit words of a file that processes share by loads and atomic operations, as words of
// the pool itself.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// The word at `offset` of a file, a multiple of 8, for use through Pool's operations. It stays the
// file's as long as the caller holds a pin on the inode (pins.h). ENXIO: there is a hole, or
// nothing. EINVAL, EIO.
Result<persist::Word*> word_at(FileSystem& fs, const Map& map, uint64_t offset);

}  // namespace cairn::file
