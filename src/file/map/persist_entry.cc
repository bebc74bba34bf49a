#include "file/map/persist_entry.h"

#include <array>

namespace cairn::file {
namespace {

void take_mark_off(Pool& pool, Word& word) {
  uint64_t held = word.load();
  while ((held & Entry::not_yet_durable) != 0 &&
         !pool.compare_exchange(word, held, held & ~Entry::not_yet_durable)) {
  }
}

bool any_marked(const Word* word, uint64_t count) {
  uint64_t bits = 0;
  for (uint64_t i = 0; i < count; ++i) bits |= word[i].load_relaxed();
  return (bits & Entry::not_yet_durable) != 0;
}

}  // namespace

Status persist_published(Pool& pool, Word* word, uint64_t count) {
  pool.flush(word, count * sizeof(Word));
  if (!marks_until_flush(pool)) return Status();
  CAIRN_TRY(pool.fence());
  for (uint64_t i = 0; i < count; ++i) take_mark_off(pool, word[i]);
  return Status();
}

Status persist_marked(Pool& pool, const Map& map, uint64_t file_block, uint64_t blocks,
                      const MapCursor& cursor) {
  if (!marks_until_flush(pool)) return Status();
  const uint64_t words = cursor.level == 0 ? blocks : 1;
  if ((cursor.seen & Entry::not_yet_durable) == 0 && !any_marked(cursor.word, words)) [[likely]]
    return Status();
  // The words on the way, one of each level.
  std::array<Word*, format::root_levels + 1> way = {};
  unsigned count = 0;
  for (unsigned level = level_of(file_block); level > cursor.level; --level) {
    Word* word = &map.inode->root[level_of(file_block) - 1];
    for (unsigned l = level_of(file_block); l > level; --l) {
      const Entry entry{word->load()};
      if (entry.kind() != Kind::node || !pool.valid(entry.block()))
        return damaged(pool, map, file_block);
      word = node_at(pool, entry.block()) +
             ((file_block >> (format::node_shift * (l - 1))) & (format::node_entries - 1));
    }
    way[count++] = word;
  }
  for (unsigned i = 0; i < count; ++i) pool.flush(way[i], sizeof(Word));
  pool.flush(cursor.word, words * sizeof(Word));
  CAIRN_TRY(pool.fence());
  for (unsigned i = 0; i < count; ++i) take_mark_off(pool, *way[i]);
  for (uint64_t i = 0; i < words; ++i) take_mark_off(pool, cursor.word[i]);
  return Status();
}

}  // namespace cairn::file
