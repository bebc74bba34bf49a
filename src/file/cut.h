// Cut: truncate and punch. A cut takes the file blocks [from, to) out of a map as one atomic
// change, whatever the file's size: nodes on the two edges are replaced by copies without the
// range, and an orphan inode gets the old ones together with the range that is to be freed
// (reclaim.h).
//
// A mapping shows what is written to the file later, also where it was cut in between (mmap(2),
// POSIX.1-2017). So as long as anybody has a file mapped, its blocks stay where they are, and what
// was cut is zeroed instead.
#pragma once

#include "file/open_file.h"
#include "pool/redo.h"

namespace cairn::file {

// ftruncate(2) on a regular file. ESTALE if the number does not mean the file of `generation` any
// more (0: any will do; for who holds it open).
Status truncate(FileSystem& fs, const Map& map, uint64_t size, uint64_t generation = 0);
// FALLOC_FL_PUNCH_HOLE: [offset, offset + size) reads as zeros, whole blocks of it are freed.
Status punch(FileSystem& fs, const Map& map, uint64_t offset, uint64_t size,
             uint64_t generation = 0);
// What a staging that did not come to its end has put into a lazy file. ESTALE as above.
Status drop_staged(FileSystem& fs, const Map& map, uint64_t generation = 0);
// The whole map becomes empty as a part of `change`, which is committed; the blocks go to an
// orphan. The caller holds the inode's lock and has its shape to itself.
Status cut_all(FileSystem& fs, LocalSeat& seat, const Map& map, pool::Change& change);
// Nobody may have the file mapped any more: what cuts have left because of mappings goes. The
// caller holds no lock and has announced no stores.
void trim(FileSystem& fs, const Map& map);
// What the description's writer filled ahead (fill_ahead.h), its inode being `map`: blocks at the
// end of that which hold nothing but zeros become holes, which nobody can tell from them. The
// caller holds no lock and has announced no stores. False: none was freed, also because the inode
// is mapped or no longer a file.
bool free_ahead(FileSystem& fs, LocalSeat& seat, const Map& map, format::OpenFile& open);
// What a preallocation that failed had filled of the file blocks [from, to) becomes holes again,
// but for what others have written there since, and not while the file is mapped, or if more
// preallocations of it than `succeeded` have. The caller holds no lock and has announced no stores.
void free_zeros(FileSystem& fs, const Map& map, uint64_t from, uint64_t to, uint64_t succeeded);

}  // namespace cairn::file
