#include "file/map/map.h"

#include <algorithm>

namespace cairn::file {

Status damaged(const Pool& pool, const Map& map, uint64_t file_block) {
  // The entry may name a segment that another process has added and that could not be mapped.
  CAIRN_TRY(pool.see_growth());
  return fail(EIO, "inode %llu: its map is damaged at offset %llu",
              static_cast<unsigned long long>(map.number),
              static_cast<unsigned long long>(file_block) << format::block_shift);
}

uint64_t contiguous(const Pool& pool, const Map& map, uint64_t file_block, const MapCursor& cursor,
                    uint64_t most) {
  if (cursor.level == 1) {  // a leaf
    return std::min(most, format::chunk_blocks - (file_block & (format::node_entries - 1)));
  }
  const uint64_t in_table = file_block < format::direct_entries
                                ? format::direct_entries - file_block
                                : format::node_entries - (file_block & (format::node_entries - 1));
  most = std::min(most, in_table);
  // Local copies, which the compiler need not read again behind each load of an entry.
  const Word* const word = cursor.word;
  const BlockRef first = cursor.block;
  const uint64_t number = map.number;
  // All lines of a long run's entries are prefetched together: the bytes copied before have pushed
  // them out of the near caches, and fetching them one by one would cost a 1 MiB piece 3 % of its
  // copy.
  constexpr uint64_t per_line = 64 / sizeof(Word);
  for (uint64_t i = per_line; i < most; i += per_line) __builtin_prefetch(&word[i]);
  uint64_t n = 1;
  while (n < most) {
    const Entry next = Entry::make(Kind::block, first.plus(n), number, file_block + n, 0);
    if (!Entry{word[n].load()}.says(next)) break;
    ++n;
  }
  return pool.valid_run(first, n) ? n : 1;
}

uint64_t hole_run(const Map& /*map*/, uint64_t file_block, const MapCursor& cursor, uint64_t most) {
  const uint64_t in_table = file_block < format::direct_entries
                                ? format::direct_entries - file_block
                                : format::node_entries - (file_block & (format::node_entries - 1));
  most = std::min(most, in_table);
  uint64_t n = 1;
  while (n < most && cursor.word[n].load_relaxed() == 0) ++n;
  return n;
}

namespace {

struct BlockSpan {
  uint64_t from;
  uint64_t to;
};

bool visit_entry(const Pool& pool, const Map& map, BlockSpan range, Word& word, uint64_t base,
                 unsigned level, MapVisitor& visitor) {
  const Entry entry{word.load()};
  if (!entry) return true;
  const bool sound = pool.valid(entry.block()) && entry.belongs_to(map.number, base, level);
  if (sound && level == 0 && entry.kind() == Kind::block) return visitor.data(word, entry, base, 1);
  if (sound && level == 1 && entry.kind() == Kind::leaf &&
      pool.valid_run(entry.block(), format::chunk_blocks))
    return visitor.data(word, entry, base, format::chunk_blocks);
  if (!sound || level == 0 || entry.kind() != Kind::node) return visitor.damage(word, base, level);
  if (!visitor.node(word, entry, base, level)) return false;
  Word* node = node_at(pool, entry.block());
  const uint64_t span = span_of(level - 1);
  const uint64_t first = range.from <= base ? 0 : (range.from - base) / span;
  for (uint64_t i = first; i < format::node_entries && base + i * span < range.to; ++i) {
    if (!visit_entry(pool, map, range, node[i], base + i * span, level - 1, visitor)) return false;
  }
  return visitor.after_node(word, entry, base, level);
}

}  // namespace

bool visit_map(const Pool& pool, const Map& map, uint64_t from, uint64_t to, MapVisitor& visitor) {
  const BlockSpan range{from, to};
  for (uint64_t b = from; b < format::direct_entries && b < to; ++b) {
    if (!visit_entry(pool, map, range, map.inode->direct[b], b, 0, visitor)) return false;
  }
  for (unsigned level = 1; level <= format::root_levels; ++level) {
    const uint64_t begin = level == 1 ? format::direct_entries : span_of(level - 1);
    if (to <= begin || from >= span_of(level)) continue;
    if (!visit_entry(pool, map, range, map.inode->root[level - 1], 0, level, visitor)) return false;
  }
  return true;
}

}  // namespace cairn::file
