// Run cache: remembers where a thread's last access to a file found its blocks. A walk of the map
// is a chain of dependent loads that cannot overlap with the access before; a sequential reader or
// writer of small pieces would pay it for every piece.
//
// The cache is sound because a published entry changes its address only under a structural change,
// which moves the inode's shape. A thread that finds, inside its seat, the shape that it remembered
// has found the map unchanged. Blocks cut after that check are not reused before a reader leaves. A
// structural change waits for a writer, which has announced the inode.
#pragma once

#include <algorithm>

#include "file/inode/file_system.h"
#include "file/map/persist_entry.h"
#include "persist/copy/prefetching_copy.h"
#include "persist/core/cpu.h"

namespace cairn::file {

// The cache remembers pieces of up to so many blocks; larger pieces pay for their walk anyway.
inline constexpr uint64_t largest_piece_remembered = 32;
// The number of blocks that a walk looks ahead. A walk that comes from elsewhere looks at one cache
// line of entries. Each walk that goes on where the last one ended looks eight times as far, up to
// a whole table. A leaf tells as much in one look.
inline constexpr uint64_t first_look_ahead = 8;

// The place of the file's bytes from `offset` on; size 0: unknown, walk.
struct CachedRun {
  persist::Region* region = nullptr;
  uint64_t at = 0;  // in the region
  uint64_t size = 0;
  const uint8_t* warm = nullptr;  // set if Region::read_warm may read them
};

inline CachedRun recall(const LocalSeat& seat, const File& file, uint64_t offset) {
  const pool::RememberedRun& run = seat.run;
  const uint64_t into = offset - run.offset;
  if (run.handle != file.serial || into >= run.size || file.inode->shape.load() != run.shape)
    return {};
  return {run.region, run.at + into, run.size - into,
          run.warm != nullptr ? run.warm + into : nullptr};
}

// Returns how many blocks from `file_block` on are worth a look.
inline uint64_t blocks_ahead(const pool::RememberedRun& last, const File& file, uint64_t file_block,
                             unsigned level) {
  if (level == 1) return format::chunk_blocks;
  const bool goes_on =
      last.handle == file.serial && last.offset + last.size == file_block << format::block_shift;
  const uint64_t known = last.size >> format::block_shift;
  uint64_t reach = first_look_ahead;
  while (goes_on && reach <= known && reach < format::node_entries) reach *= 8;
  return reach - file_block % reach;
}

// Remembers the result of a walk for `file_block`, at least for the `least` blocks from there on
// that are wanted now. The caller is inside the seat, and read the shape before the walk.
inline void remember(LocalSeat& seat, const File& file, uint64_t shape, uint64_t file_block,
                     const MapCursor& cursor, uint64_t least) {
  if ((shape & 1) != 0) return;  // while the structure changes nothing holds for long
  const uint64_t ahead = std::max(least, blocks_ahead(seat.run, file, file_block, cursor.level));
  Pool& pool = file.fs->pool;
  uint64_t blocks = contiguous(pool, file.map(), file_block, cursor, ahead);
  if (marks_until_flush(pool)) {  // a write that is spared the walk cannot see marks
    if ((cursor.seen & Entry::not_yet_durable) != 0) return;
    for (uint64_t i = 1; i < blocks && cursor.level == 0; ++i) {
      if ((cursor.word[i].load() & Entry::not_yet_durable) != 0) blocks = i;
    }
  }
  persist::Region& region = pool.region(cursor.block);
  const uint64_t at = cursor.block.index() << format::block_shift;
  const uint64_t size = blocks << format::block_shift;
  const uint64_t next = seat.run.next;
  seat.run = {file.serial, shape, file_block << format::block_shift, size,
              &region,     at,    region.warm_bytes(at, size),       next};
}

// Prefetching for sequential access: between two calls too much happens for the processor to have
// the lines of both under way concurrently, as a plain copy has. So a sequential read asks for the
// lines of the next reads while it copies (persist/copy/prefetching_copy.h). A sequential write
// does so if it is small and stays in the cache.

// Returns the address of the read that probably follows a read of `size` bytes at `offset`, if that
// one follows the read before; else null.
inline const uint8_t* next_in_sequence(LocalSeat& seat, const uint8_t* bytes, size_t size,
                                       uint64_t offset) {
  if (!persist::copies_fetching) return nullptr;
  const bool goes_on = seat.run.next == offset;
  seat.run.next = offset + size;
  return goes_on ? bytes + persist::sequence_ahead : nullptr;
}

inline constexpr size_t small_piece = 512;
inline void prefetch_overwrite(LocalSeat& seat, const uint8_t* bytes, size_t size,
                               uint64_t offset) {
  if (!persist::calls_fetch_ahead) return;
  if (seat.run.next == offset && size <= small_piece) {
    const uint8_t* begin = bytes + size + small_piece;
    for (const uint8_t* line = begin; line < begin + size; line += 64)
      persist::prefetch_for_store(line);
  }
  seat.run.next = offset + size;
}

}  // namespace cairn::file
