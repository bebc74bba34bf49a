// Before a write is acknowledged, persist_marked() makes the entries durable that other processes
// stored and that the write relies on.
//
// A process that publishes an entry makes it durable a moment later. In between, other processes
// find the entry's blocks mapped, and could return from a write, or from fsync, before the entry
// has arrived: a power loss would take their bytes with it. So on persistent memory an entry
// carries the mark *not yet durable* until it has been flushed and fenced. A process that is about
// to acknowledge bytes below such an entry flushes it first. (On page-cache media the mark stays
// until fsync: see sync.h.)
#pragma once

#include "file/map/map.h"

namespace cairn::file {

// Returns true if the medium keeps its marks until fsync (sync.h).
inline bool is_page_medium(const Pool& pool) {
  return pool.segment[0]->region.granularity() == persist::Granularity::page;
}
// Returns true if the medium keeps its marks only until the entry is flushed.
inline bool marks_until_flush(const Pool& pool) {
  return !pool.is_volatile && !is_page_medium(pool);
}
// Returns the mark with which a new entry is published.
inline uint64_t mark_of_new(const Pool& pool) {
  return pool.is_volatile ? 0 : Entry::not_yet_durable;
}

// Flushes and fences the entries `word[0 .. count)`, which this process has published with the
// mark, then clears their marks. If marks_until_flush() is false, it only flushes.
Status persist_published(Pool& pool, Word* word, uint64_t count);

// Makes the marked entries on the way to file blocks [file_block, file_block + blocks) durable,
// before their bytes are acknowledged. `cursor` is the end of the walk to the first.
Status persist_marked(Pool& pool, const Map& map, uint64_t file_block, uint64_t blocks,
                      const MapCursor& cursor);

}  // namespace cairn::file
