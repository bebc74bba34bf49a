// Map: a file's page table, file block -> block of the pool.
//
// File blocks 0..7 have an entry in the inode; file blocks [512^l, 512^(l+1)) hang below root[l -
// 1]. The tree's height is a function of the file block's number alone, and never changes:
//
//   level_of(b)   0: direct[b]   1: b < 512   2: b < 512^2   3: b < 512^3   4: b < 512^4 (256 TiB)
//
// root[l - 1] names a node of level l, whose 512 entries cover 512^(l-1) file blocks each; entries
// of a level-1 node name data blocks, and an entry of a level-2 node may be a leaf: 512 contiguous
// blocks. Slots of a tree that belong to a lower level's range stay empty.
//
// Walking takes no lock: a thread that walks is inside a SeatGuard, and blocks cut out of a map are
// not reused before the thread has left its seat. map_growth.h adds nodes and blocks.
#pragma once

#include <cstdint>

#include "format/entry.h"
#include "format/inode.h"
#include "pool/core/pool.h"

namespace cairn::file {

using format::BlockRef;
using format::Entry;
using format::Inode;
using format::Kind;
using persist::Word;
using pool::LocalSeat;
using pool::Pool;

inline constexpr uint64_t max_file_blocks = 1ULL << 36;
inline constexpr uint64_t max_file_size = (max_file_blocks << format::block_shift) - 1;

constexpr unsigned level_of(uint64_t file_block) {
  if (file_block < format::direct_entries) return 0;
  if (file_block < 1ULL << 9) return 1;
  if (file_block < 1ULL << 18) return 2;
  if (file_block < 1ULL << 27) return 3;
  return 4;
}
// Returns the first file block of the range that an entry of `level` covers.
constexpr uint64_t base_of(uint64_t file_block, unsigned level) {
  return file_block & ~((1ULL << (format::node_shift * level)) - 1);
}
constexpr uint64_t span_of(unsigned level) { return 1ULL << (format::node_shift * level); }

inline Word* node_at(const Pool& pool, BlockRef block) {
  return reinterpret_cast<Word*>(pool.at(block));
}

// A map and the inode that it belongs to.
struct Map {
  Inode* inode = nullptr;
  uint64_t number = 0;
};

// The end of a walk.
struct MapCursor {
  Word* word = nullptr;  // the word that decides: a data entry, a leaf, or an empty slot
  Entry entry;           // its value; empty: hole
  unsigned level = 0;    // level of the word's entry, which covers span_of(level) file blocks
  BlockRef block;        // the block that the file block is mapped to, if any
  uint64_t seen = 0;     // the bits of all entries on the way
};

// Returns EIO: an entry on the way is damaged (its check bits or address are wrong).
Status damaged(const Pool& pool, const Map& map, uint64_t file_block);

[[gnu::always_inline]] inline Status walk(const Pool& pool, const Map& map, uint64_t file_block,
                                          MapCursor* cursor) {
  unsigned level = level_of(file_block);
  Word* word = level == 0 ? &map.inode->direct[file_block] : &map.inode->root[level - 1];
  cursor->seen = 0;
  for (;;) {
    const Entry entry{word->load()};
    cursor->seen |= entry.value;
    cursor->word = word;
    cursor->entry = entry;
    cursor->level = level;
    if (!entry) {
      cursor->block = {};
      return Status();
    }
    if (!pool.valid(entry.block()) ||
        !entry.belongs_to(map.number, base_of(file_block, level), level)) [[unlikely]]
      return damaged(pool, map, file_block);
    if (level == 0) {
      cursor->block = entry.block();
      return entry.kind() == Kind::block ? Status() : damaged(pool, map, file_block);
    }
    if (entry.kind() == Kind::leaf) {
      if (level != 1 || !pool.valid_run(entry.block(), format::chunk_blocks)) [[unlikely]]
        return damaged(pool, map, file_block);
      cursor->block = entry.block().plus(file_block & (format::node_entries - 1));
      return Status();
    }
    if (entry.kind() != Kind::node) [[unlikely]]
      return damaged(pool, map, file_block);
    --level;
    word = node_at(pool, entry.block()) +
           ((file_block >> (format::node_shift * level)) & (format::node_entries - 1));
  }
}

// Returns the number of file blocks from `file_block` on (1 to `most`) that are mapped to
// contiguous blocks. `cursor` is that of the first.
uint64_t contiguous(const Pool& pool, const Map& map, uint64_t file_block, const MapCursor& cursor,
                    uint64_t most);
// Returns the number of file blocks from `file_block` on (1 to `most`) that have no block and share
// the cursor's level-0 slots, so that one run can fill them.
uint64_t hole_run(const Map& map, uint64_t file_block, const MapCursor& cursor, uint64_t most);

// Visits every entry of the map that covers any of [from, to), a node before its contents, and
// stops at the first call that returns false. Damaged entries go to damage() and are not followed.
class MapVisitor {
 public:
  virtual ~MapVisitor() = default;
  // Returns false to stop.
  virtual bool data(Word& word, Entry entry, uint64_t file_block, uint64_t blocks) = 0;
  virtual bool node(Word& /*word*/, Entry /*entry*/, uint64_t /*file_block*/, unsigned /*level*/) {
    return true;
  }
  virtual bool damage(Word& /*word*/, uint64_t /*file_block*/, unsigned /*level*/) { return true; }
  // Called after everything below a node has been visited.
  virtual bool after_node(Word& /*word*/, Entry /*entry*/, uint64_t /*file_block*/,
                          unsigned /*level*/) {
    return true;
  }
};
bool visit_map(const Pool& pool, const Map& map, uint64_t from, uint64_t to, MapVisitor& visitor);

}  // namespace cairn::file
