#include "file/inode/blocks.h"

#include <algorithm>

namespace cairn::file {
namespace {

struct CountedBlocks {
  uint64_t data = 0;
  uint64_t nodes = 0;
  uint64_t left = 64;  // level-1 nodes to look into
};

uint64_t entries_in(const Word* words, uint64_t count) {
  return static_cast<uint64_t>(std::count_if(
      words, words + count, [](const Word& word) { return word.load_relaxed() != 0; }));
}

void count_below(const Pool& pool, const Map& map, Entry entry, uint64_t base, unsigned level,
                 CountedBlocks* counted) {
  if (!entry || !pool.valid(entry.block()) || !entry.belongs_to(map.number, base, level)) return;
  if (level == 0) ++counted->data;
  if (entry.kind() == Kind::leaf) counted->data += format::chunk_blocks;
  if (level == 0 || entry.kind() != Kind::node || counted->left == 0) return;
  const Word* node = node_at(pool, entry.block());
  ++counted->nodes;
  if (level == 1) {
    --counted->left;
    counted->data += entries_in(node, format::node_entries);
    return;
  }
  for (uint64_t i = 0; i < format::node_entries && counted->left != 0; ++i)
    count_below(pool, map, Entry{node[i].load()}, base + i * span_of(level - 1), level - 1,
                counted);
}

CountedBlocks count(const Pool& pool, const Map& map, uint64_t size) {
  CountedBlocks counted;
  counted.data = entries_in(map.inode->direct, std::size(map.inode->direct));
  for (unsigned level = 1; level <= format::root_levels; ++level)
    count_below(pool, map, Entry{map.inode->root[level - 1].load()}, 0, level, &counted);
  const uint64_t in_size = (size + format::block_size - 1) >> format::block_shift;
  if (counted.left == 0) counted.data = std::max(counted.data, in_size);
  return counted;
}

}  // namespace

uint64_t data_blocks(const Pool& pool, const Map& map, uint64_t size) {
  return count(pool, map, size).data;
}

uint64_t held_blocks(const Pool& pool, const Map& map, uint64_t size) {
  const CountedBlocks counted = count(pool, map, size);
  return counted.data + counted.nodes;
}

}  // namespace cairn::file
