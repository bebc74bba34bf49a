// Settling: making durable what a write rests on, although another process stored it.
//
// The process that publishes an entry makes it durable a moment later. In between others find their
// blocks mapped by it, and could return from a write, or from fsync, before the entry has arrived:
// a power loss would take their bytes with it. So on persistent memory an entry carries *not yet
// durable* until it has been flushed and fenced, and a process that is about to acknowledge bytes
// below such an entry flushes it first. (On page-cache media the same mark means more and stays
// until fsync: see sync.h.)
#pragma once

#include "file/map/map.h"

namespace cairn::file {

// Does this medium keep its marks until fsync (sync.h)?
inline bool is_page_medium(const Pool& pool) {
  return pool.segment[0]->region.granularity() == persist::Granularity::page;
}
// Or for a moment only?
inline bool settles(const Pool& pool) { return !pool.is_volatile && !is_page_medium(pool); }
// What a new entry is published with.
inline uint64_t mark_of_new(const Pool& pool) {
  return pool.is_volatile ? 0 : Entry::not_yet_durable;
}

// The entries `word[0 .. count)` of this process have been published with the mark: flushes,
// fences, and takes the marks off. On media that do not settle it flushes only.
Status settle_published(Pool& pool, Word* word, uint64_t count);

// Before bytes of file blocks [file_block, file_block + blocks) are acknowledged: settles what is
// marked on the way to them. `cursor` is where the walk to the first ended.
Status settle_path(Pool& pool, const Map& map, uint64_t file_block, uint64_t blocks,
                   const MapCursor& cursor);

}  // namespace cairn::file
