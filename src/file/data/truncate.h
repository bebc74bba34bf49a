// Truncate and punch, as cuts of the file's map (cut.h).
//
// A mapping shows later writes to the file, also where the file was cut in between (mmap(2),
// POSIX.1-2017). So while a process has a file mapped, the blocks stay where they are, and the cut
// range is zeroed instead.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// Does what ftruncate(2) does on a regular file. ESTALE if the number no longer means the file of
// `generation` (0: any, for a caller that holds it open).
Status truncate(FileSystem& fs, const Map& map, uint64_t size, uint64_t generation = 0);
// Does what FALLOC_FL_PUNCH_HOLE does: [offset, offset + size) reads as zeros, and its whole blocks
// are freed.
Status punch(FileSystem& fs, const Map& map, uint64_t offset, uint64_t size,
             uint64_t generation = 0);
// Drops the bytes that an unfinished staging has put into a lazy file. ESTALE as for truncate().
Status drop_staged(FileSystem& fs, const Map& map, uint64_t generation = 0);
// Frees the blocks that cuts have left because of mappings, if no process has the file mapped any
// more. The caller holds no lock and has announced no stores.
void trim(FileSystem& fs, const Map& map);

}  // namespace cairn::file
