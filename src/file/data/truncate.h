// Truncate and punch, as cuts of the file's map (cut.h).
//
// A mapping shows what is written to the file later, also where it was cut in between (mmap(2),
// POSIX.1-2017). So as long as a process has a file mapped, its blocks stay where they are, and
// what was cut is zeroed instead.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// ftruncate(2) on a regular file. ESTALE if the number does not mean the file of `generation` any
// more (0: any will do, for a caller that holds it open).
Status truncate(FileSystem& fs, const Map& map, uint64_t size, uint64_t generation = 0);
// FALLOC_FL_PUNCH_HOLE: [offset, offset + size) reads as zeros, whole blocks of it are freed.
Status punch(FileSystem& fs, const Map& map, uint64_t offset, uint64_t size,
             uint64_t generation = 0);
// What a staging that did not come to its end has put into a lazy file. ESTALE as above.
Status drop_staged(FileSystem& fs, const Map& map, uint64_t generation = 0);
// Frees what cuts have left because of mappings, if no process has the file mapped any more. The
// caller holds no lock and has announced no stores.
void trim(FileSystem& fs, const Map& map);

}  // namespace cairn::file
