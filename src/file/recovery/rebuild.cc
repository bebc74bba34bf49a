#include "file/recovery/rebuild.h"

#include <sys/stat.h>

#include <algorithm>

#include "file/inode/open_table.h"
#include "file/map/persist_entry.h"
#include "file/space/beyond_end.h"
#include "pool/core/redo.h"
#include "pool/space/find_chunk.h"
#include "pool/space/free_chunks.h"
#include "pool/space/space.h"

namespace cairn::file {
namespace {

using format::block_shift;
using format::chunk_blocks;

Status replay_all(Pool& pool) {
  for (uint32_t l = 0; l < pool.lane_count; ++l) {
    for (format::Seat& seat : pool.lanes[l].seat) {
      CAIRN_TRY(pool::replay(pool, seat.redo));
    }
  }
  return Status();
}

// Clears lanes and locks, which are void; only the redo records mattered.
void clear_lanes(Pool& pool) {
  for (uint32_t l = 0; l < pool.lane_count; ++l) {
    format::Lane& lane = pool.lanes[l];
    for (format::Stamp& stamp : lane.stamp) {
      pool.store(stamp.inode, 0);
      pool.store(stamp.mtime, 0);
    }
    for (format::Seat& seat : lane.seat) {
      pool.store(seat.epoch, 0);
      pool.store(seat.writing, 0);
      pool.store(seat.extending_inode, 0);
      pool.store(seat.allocating_inode, 0);
      for (Word& word : seat.shaped) pool.store(word, 0);
      for (format::InFlight& slot : seat.in_flight) pool.store(slot.run, 0);
    }
    const uint64_t generation = lane.generation.load();
    pool.store_flush(lane.generation, generation + (generation & 1) + 2);
  }
  for (Word& word : pool.state->attached) pool.store(word, 0);
  // These times belong to a clock that began anew.
  pool.store(pool.state->keeper_until, 0);
  pool.store(pool.state->room_wanted, 0);
  pool.store(pool.state->room_answered, 0);
  for (format::RoomKeeper& keeper : pool.state->room_keeper) {
    pool.store(keeper.keeper, 0);
    pool.store(keeper.until, 0);
    pool.store(keeper.answered, 0);
  }
}

void clear_open_files(FileSystem& fs) {
  Pool& pool = fs.pool;
  // The count may be older than the table: mapped blocks count.
  uint64_t blocks = 0;
  for (MapCursor cursor; walk(pool, fs.otable(), blocks, &cursor).ok() && cursor.block;) ++blocks;
  pool.store(pool.state->otable_blocks, blocks);
  for (uint64_t slot = 0; slot < blocks * format::open_files_per_block; ++slot) {
    format::OpenFile* open = open_file_at(fs, slot);
    if (open == nullptr) continue;
    for (Word& word : open->holder) pool.store(word, 0);
    const uint64_t generation = format::open_generation(open->state.load());
    pool.store(open->state, format::open_state(generation + 1, format::open_free));
  }
}

void free_all_blocks(Pool& pool) {
  for (uint32_t s = 0; s < pool.segments.load(); ++s) {
    pool::Segment& segment = *pool.segment[s];
    for (uint64_t c = segment.data_start / chunk_blocks; c < segment.chunks; ++c) {
      format::Chunk& chunk = segment.chunk[c];
      pool.store(chunk.owner, 0);
      // A chunk that was being released stays in that state: it is opened like one that holds
      // anything.
      if ((chunk.state.load() & 0xff) == format::chunk_releasing) continue;
      if ((chunk.state.load() & 0xff) != format::chunk_open) {
        pool.store(chunk.state, format::chunk_untouched);
        continue;
      }
      for (uint64_t b = c * chunk_blocks; b < (c + 1) * chunk_blocks; ++b)
        pool.store(segment.record[b].owner, format::record_free);
      for (Word& word : chunk.free) pool.store(word, ~0ULL);
    }
  }
}

// Opens a chunk that holds blocks of files but whose own words never reached the medium.
Status make_open(Pool& pool, BlockRef block) {
  format::Chunk& chunk = pool.chunk(block);
  if ((chunk.state.load() & 0xff) == format::chunk_open) return Status();
  const bool zero = pool.segment[block.segment()]->fresh_zero;
  pool.segment[block.segment()]->fresh_zero = false;
  Status status = pool::open_chunk(pool, block.segment(), block.index() / chunk_blocks);
  pool.segment[block.segment()]->fresh_zero = zero;
  return status;
}

// Claims the blocks that a map names, and cuts off entries that are invalid.
class Claimer final : public MapVisitor {
 public:
  Claimer(Pool& pool, uint64_t number, bool page_medium)
      : pool_(pool), number_(number), page_medium_(page_medium) {}

  bool data(Word& word, Entry entry, uint64_t file_block, uint64_t blocks) override {
    if (drop_if_lost(word, entry)) return true;
    return claim(word, entry.block(), file_block, blocks, 0);
  }
  bool node(Word& word, Entry entry, uint64_t file_block, unsigned level) override {
    if (drop_if_lost(word, entry)) return true;
    return claim(word, entry.block(), file_block, 1, level);
  }
  bool damage(Word& /*word*/, uint64_t file_block, unsigned /*level*/) override {
    status = fail(EUCLEAN, "inode %llu: its map is damaged at offset %llu",
                  static_cast<unsigned long long>(number_),
                  static_cast<unsigned long long>(file_block) << block_shift);
    return true;  // reading there returns EIO; the rest of the file is kept
  }

  Status status;

 private:
  // Drops an entry whose data were never synced: the page cache writes back in any order. The store
  // is not flushed. While the entry is there with its mark, each recovery drops it, and the last
  // process to detach writes everything back.
  bool drop_if_lost(Word& word, Entry entry) {
    if (!page_medium_ || (entry.value & Entry::not_yet_durable) == 0) return false;
    pool_.store(word, 0);
    return true;
  }
  bool claim(Word& word, BlockRef first, uint64_t file_block, uint64_t blocks, unsigned level) {
    for (uint64_t i = 0; i < blocks; ++i) {
      const BlockRef block = first.plus(i);
      if (Status s = make_open(pool_, block); !s.ok()) {
        status = s;
        return false;
      }
      format::BlockRecord& record = pool_.record(block);
      if (format::record_state(record.owner.load()) == format::record_used) {
        status = fail(EUCLEAN, "block %llu of segment %u belongs to inodes %llu and %llu",
                      static_cast<unsigned long long>(block.index()), block.segment(),
                      static_cast<unsigned long long>(format::record_inode(record.owner.load())),
                      static_cast<unsigned long long>(number_));
        pool_.store_flush(word, 0);
        return true;
      }
      pool_.store(record.file_block, file_block + i);
      pool_.store(record.owner, format::record_of(number_, level, 0));
      pool_.fetch_and(pool_.chunk(block).free[block.index() % chunk_blocks / 64],
                      ~(1ULL << (block.index() % 64)));
    }
    return true;
  }

  Pool& pool_;
  uint64_t number_;
  bool page_medium_;
};

Status claim_map(FileSystem& fs, const Map& map, uint64_t from, uint64_t to, bool page_medium) {
  Claimer claimer(fs.pool, map.number, page_medium);
  visit_map(fs.pool, map, from, to, claimer);
  return claimer.status;
}

void empty_map(Pool& pool, Inode& inode) {
  for (Word& word : inode.direct) pool.store(word, 0);
  for (Word& word : inode.root) pool.store(word, 0);
}

// Drops a size that reached the medium before its bytes did; the bytes of a lazy file lie in lower.
void forget_unsynced_size(Pool& pool, Inode& inode) {
  const uint64_t synced = inode.file.synced_size.load();
  if (inode.size.load() > synced && (inode.flags.load() & format::flag_lazy) == 0)
    pool.store(inode.size, synced);
  pool.store(inode.file.unsynced, 0);
}

// Frees blocks behind the end of a file, which a write had not yet made part of it.
void trim(FileSystem& fs, const Map& map);

}  // namespace

void forget_processes(FileSystem& fs) {
  clear_lanes(fs.pool);
  clear_open_files(fs);
}

Status rebuild(FileSystem& fs) {
  Pool& pool = fs.pool;
  const bool page_medium = is_page_medium(pool);
  const bool keeps_synced_size =
      (pool.superblock().features_read_only.load() & format::feature_synced_size) != 0;
  CAIRN_TRY(replay_all(pool));
  clear_lanes(pool);
  free_all_blocks(pool);
  // Open files and pins lived in shared memory.
  empty_map(pool, pool.state->otable);
  empty_map(pool, pool.state->ptable);
  pool.store(pool.state->otable_blocks, 0);
  pool.store(pool.state->pin_cursor, 0);
  pool.store(pool.state->unsynced, 0);
  for (uint32_t i = 0; i < format::orphan_shards; ++i) {
    pool.store(pool.orphans[i].lock, 0);
    pool.store(pool.orphans[i].head, 0);
  }
  Status worst = claim_map(fs, fs.itable(), 0, max_file_blocks, page_medium);
  // The count may be older than the table: mapped blocks count.
  uint64_t blocks = pool.state->itable_blocks.load();
  for (MapCursor cursor; walk(pool, fs.itable(), blocks, &cursor).ok() && cursor.block;) ++blocks;
  pool.store(pool.state->itable_blocks, blocks);
  for (uint64_t number = format::root_inode; number < blocks * format::inodes_per_block; ++number) {
    Inode* inode = inode_at(fs, number);
    if (inode == nullptr) continue;
    const uint64_t maker = inode->state.load() >> format::state_bits;
    const uint64_t state = inode->state.load() & 7;
    pool.store(inode->lock, 0);
    pool.store(inode->append_lock, 0);
    pool.store(inode->opens, 0);
    pool.store(inode->stamps, 0);
    pool.store(inode->shape, 0);
    const bool lives = state == format::inode_live && inode->links.load() != 0;
    if (!lives) {
      // The blocks of orphans, of unlinked files without openers, and of inodes in the making stay
      // free.
      empty_map(pool, *inode);
      pool.store(inode->xattr, 0);
      // Links of any other free inode are damage (see is_takeable() in inode_table.cc).
      if (state == format::inode_allocating && maker != 0) pool.store(inode->links, 0);
      if (state != format::inode_never) pool.store(inode->state, format::inode_free);
      pool.flush(inode, sizeof *inode);
      continue;
    }
    const Map map{inode, number};
    pool.store(inode->state, format::inode_live);  // without the mark of an end
    if (Status s = claim_map(fs, map, 0, max_file_blocks, page_medium); !s.ok()) worst = s;
    const Entry xattr{inode->xattr.load()};
    if (xattr) {
      if (pool.valid(xattr.block())) {
        CAIRN_TRY(make_open(pool, xattr.block()));
        pool.store(pool.record(xattr.block()).file_block, 0);
        pool.store(pool.record(xattr.block()).owner,
                   format::record_of(number, format::level_xattr, 0));
        const BlockRef block = xattr.block();
        pool.fetch_and(pool.chunk(block).free[block.index() % chunk_blocks / 64],
                       ~(1ULL << (block.index() % 64)));
      } else {
        pool.store_flush(inode->xattr, 0);
      }
    }
    if (S_ISREG(inode->mode.load())) {
      if (page_medium && keeps_synced_size) forget_unsynced_size(pool, *inode);
      trim(fs, map);
      // The times of the last writes were lost with the lanes: the file may have changed since it
      // was drained.
      if ((inode->flags.load() & format::flag_lazy) == 0) pool.store(inode->drained, 0);
      pool.store(inode->file.moved, 0);
    }
    pool.flush(inode, sizeof *inode);
  }
  // The tables are only hints while the pool is attached, but a clean detach promises them.
  for (uint32_t s = 0; s < pool.segments.load(); ++s) {
    pool::Segment& segment = *pool.segment[s];
    for (uint64_t c = segment.data_start / chunk_blocks; c < segment.chunks; ++c)
      if (pool::is_open(segment.chunk[c])) pool::note_left(pool, {s, c});
    pool.flush(segment.chunk, segment.chunks * sizeof(format::Chunk));
    for (uint64_t c = segment.data_start / chunk_blocks; c < segment.chunks; ++c) {
      if ((segment.chunk[c].state.load() & 0xff) == format::chunk_open)
        pool.flush(&segment.record[c * chunk_blocks], chunk_blocks * sizeof(format::BlockRecord));
    }
  }
  pool.flush(pool.state, sizeof *pool.state);
  pool.flush(pool.orphans, format::block_size);  // the first attach fences
  // Damage inside a file affects only that file: reads of it return the error, and `check` names
  // it.
  worst.ignore();
  return Status();
}

namespace {

class BeyondEnd final : public MapVisitor {
 public:
  BeyondEnd(FileSystem& fs, const Map& map) : fs_(fs), map_(map) {}
  bool data(Word& /*word*/, Entry /*entry*/, uint64_t file_block, uint64_t blocks) override {
    const uint64_t size = map_.inode->size.load();
    const uint64_t from = std::max(size, file_block << block_shift);
    // Preallocated blocks are zero already; zeroing them again changes nothing.
    status = zero_mapped(fs_, map_, from, (file_block + blocks) << block_shift);
    return status.ok();
  }
  Status status;

 private:
  FileSystem& fs_;
  const Map& map_;
};

void trim(FileSystem& fs, const Map& map) {
  BeyondEnd visitor(fs, map);
  visit_map(fs.pool, map, map.inode->size.load() >> block_shift, max_file_blocks, visitor);
}

}  // namespace
}  // namespace cairn::file
