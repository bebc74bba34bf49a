// Words: 64-bit words of a file that processes share through loads and atomic operations, like the
// pool's own words.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// Returns the word at `offset` of a file, a multiple of 8, for Pool's operations. The word stays
// the file's while the caller holds a pin on the inode (pins.h). ENXIO: a hole, or beyond the end.
// EINVAL, EIO.
Result<persist::Word*> word_at(FileSystem& fs, const Map& map, uint64_t offset);

}  // namespace cairn::file
