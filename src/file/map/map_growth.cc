#include "file/map/map_growth.h"

#include "file/map/persist_entry.h"
#include "pool/space/space.h"

namespace cairn::file {

Status reach(Pool& pool, LocalSeat& seat, const Map& map, uint64_t file_block, bool for_leaf,
             pool::Need need, MapCursor* cursor) {
  const unsigned target = for_leaf ? 1 : 0;
  for (;;) {
    CAIRN_TRY(walk(pool, map, file_block, cursor));
    if (cursor->entry || cursor->level <= target) return Status();
    // A node is missing at cursor->level.
    const uint64_t base = base_of(file_block, cursor->level);
    auto run = pool::take(pool, seat,
                          {.inode = map.number,
                           .file_block = base,
                           .level = cursor->level,
                           .need = need,
                           .use = pool::Use::lookup});
    if (!run.ok()) return run.status();
    if (!run->zero) CAIRN_TRY(pool.zero(run->first, 0, format::block_size));
    CAIRN_TRY(pool.fence());
    uint64_t expected = 0;
    Entry entry = Entry::make(Kind::node, run->first, map.number, base, cursor->level);
    if (marks_until_flush(pool)) entry.value |= mark_of_new(pool);
    if (pool.compare_exchange(*cursor->word, expected, entry.value)) {
      CAIRN_TRY(persist_published(pool, cursor->word, 1));
    } else {
      pool::give_back(pool, run->first, 1, true);
    }
    pool::clear_in_flight(pool, seat, *run);
  }
}

Result<BlockRef> block_for(Pool& pool, LocalSeat& seat, const Map& map, uint64_t file_block,
                           pool::Need need) {
  MapCursor cursor;
  CAIRN_TRY(reach(pool, seat, map, file_block, false, need, &cursor));
  while (!cursor.entry) {
    auto run = pool::take(
        pool, seat,
        {.inode = map.number, .file_block = file_block, .need = need, .use = pool::Use::lookup});
    if (!run.ok()) return run.status();
    if (!run->zero) CAIRN_TRY(pool.zero(run->first, 0, format::block_size));
    CAIRN_TRY(pool.fence());
    uint64_t expected = 0;
    Entry entry = Entry::make(Kind::block, run->first, map.number, file_block, 0);
    if (marks_until_flush(pool)) entry.value |= mark_of_new(pool);
    const bool won = pool.compare_exchange(*cursor.word, expected, entry.value);
    if (won) {
      CAIRN_TRY(persist_published(pool, cursor.word, 1));
      // A page medium's marks stay until fsync, and no fsync covers a directory or a table.
      if (is_page_medium(pool)) CAIRN_TRY(pool.fence());
    } else {
      pool::give_back(pool, run->first, 1, true);
    }
    pool::clear_in_flight(pool, seat, *run);
    if (won) return run->first;
    CAIRN_TRY(walk(pool, map, file_block, &cursor));
  }
  CAIRN_TRY(persist_marked(pool, map, file_block, 1, cursor));
  return cursor.block;
}

}  // namespace cairn::file
