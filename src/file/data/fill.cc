#include "file/data/fill.h"

#include <algorithm>

#include "file/data/sync.h"
#include "file/map/map_growth.h"
#include "file/map/persist_entry.h"
#include "file/space/fill_ahead.h"
#include "pool/space/space.h"

namespace cairn::file {
namespace {

using format::block_shift;
using format::block_size;

constexpr uint64_t entries_per_line = 64 / sizeof(Word);

Status copy_piece(Pool& pool, BlockRef block, uint64_t at, const WritePiece& piece) {
  return piece.source != nullptr ? pool.copy_in(block, at, piece.source, piece.size)
                                 : pool.zero(block, at, piece.size);
}

// Publishes one block of a run. If another process filled the hole first, copies into its block.
Status publish(FileSystem& fs, const Map& map, Word& slot, BlockRef block, uint64_t file_block,
               const WritePiece& piece) {
  Entry entry = Entry::make(Kind::block, block, map.number, file_block, 0);
  entry.value |= mark_of_new(fs.pool);
  uint64_t held = 0;
  if (fs.pool.compare_exchange(slot, held, entry.value)) [[likely]]
    return Status();
  const Entry winner{held};
  if (piece.offset + piece.size <= file_block << block_shift) {  // only filled ahead
    pool::give_back(fs.pool, block, 1, true);
    return Status();
  }
  if (!fs.pool.valid(winner.block()) || !winner.belongs_to(map.number, file_block, 0))
    return damaged(fs.pool, map, file_block);
  const uint64_t begin = file_block << block_shift;
  const uint64_t from = std::max(piece.offset, begin);
  const uint64_t to = std::min(piece.offset + piece.size, begin + block_size);
  if (piece.source != nullptr)
    CAIRN_TRY(fs.pool.copy_in(winner.block(), from - begin, piece.source + (from - piece.offset),
                              to - from));
  pool::give_back(fs.pool, block, 1);
  return Status();
}

// Publishes the run as one 2 MiB leaf. Returns false if another process was faster.
bool publish_leaf(FileSystem& fs, Word& slot, const pool::BlockRun& run, const Map& map,
                  uint64_t file_block) {
  uint64_t held = 0;
  Entry entry = Entry::make(Kind::leaf, run.first, map.number, file_block, 1);
  entry.value |= mark_of_new(fs.pool);
  const bool won = fs.pool.compare_exchange(slot, held, entry.value);
  if (!won) pool::give_back(fs.pool, run.first, run.count);
  return won;
}

}  // namespace

Result<uint64_t> fill_hole(FileSystem& fs, LocalSeat& seat, const Map& map, File* file,
                           WritePiece piece, MapCursor cursor) {
  Pool& pool = fs.pool;
  const uint64_t file_block = piece.offset >> block_shift;
  const uint64_t at = in_block(piece.offset);
  const uint64_t needed = (at + piece.size + block_size - 1) >> block_shift;
  const uint64_t wanted =
      needed + (file == nullptr ? 0 : blocks_ahead(*file, piece.offset, piece.offset + piece.size));
  const bool leaf = file_block >= format::node_entries &&
                    (file_block & (format::node_entries - 1)) == 0 && at == 0 &&
                    wanted >= format::chunk_blocks && !is_page_medium(pool) &&
                    (cursor.level > 1 || (cursor.level == 1 && !cursor.entry));
  if (cursor.level > (leaf ? 1 : 0)) [[unlikely]] {
    CAIRN_TRY(reach(pool, seat, map, file_block, leaf, pool::Need::ordinary, &cursor));
    if (cursor.entry) return uint64_t{0};  // another process was faster: walk again
  }
  bool as_leaf = leaf && cursor.level == 1;
  const uint64_t most =
      as_leaf ? format::chunk_blocks
              : std::min(hole_run(map, file_block, cursor, wanted), format::chunk_blocks);
  auto run = pool::take(
      pool, seat,
      {.inode = map.number, .file_block = file_block, .wanted = static_cast<uint32_t>(most)});
  if (!run.ok()) return run.status();
  const auto enough = static_cast<uint32_t>(std::min<uint64_t>(run->count, needed));
  if (as_leaf &&
      (run->count < format::chunk_blocks || (!run->zero && needed < format::chunk_blocks))) {
    // No whole chunk is left, or it would have to be zeroed: the fill continues block by block.
    pool::give_back(pool, run->first, run->count, run->zero);
    pool::clear_in_flight(pool, seat, *run);
    CAIRN_TRY(reach(pool, seat, map, file_block, false, pool::Need::ordinary, &cursor));
    if (cursor.entry) return uint64_t{0};
    as_leaf = false;
    run = pool::take(pool, seat,
                     {.inode = map.number,
                      .file_block = file_block,
                      .wanted = static_cast<uint32_t>(hole_run(map, file_block, cursor, enough))});
    if (!run.ok()) return run.status();
  } else if (!run->zero && run->count > enough && !as_leaf) {
    pool::give_back(pool, run->first.plus(enough), run->count - enough);
    run->count = enough;
  }
  // The copy takes long enough for the lines of the entries, and of the next call's, to arrive.
  for (uint64_t i = 0; !as_leaf && i < run->count + entries_per_line; i += entries_per_line)
    persist::prefetch_for_store(cursor.word + i);
  piece.size = std::min(piece.size, (static_cast<uint64_t>(run->count) << block_shift) - at);
  const uint64_t end = at + piece.size;
  Status status;
  if (!run->zero) {
    if (at != 0) status = pool.zero(run->first, 0, at);
    if (status.ok() && in_block(end) != 0)
      status = pool.zero(run->first, end, block_size - in_block(end));
  }
  if (status.ok() && (piece.source != nullptr || !run->zero))
    status = copy_piece(pool, run->first, at, piece);
  if (status.ok()) status = pool.fence_bytes();
  if (!status.ok()) {
    pool::give_back(pool, run->first, run->count);
    pool::clear_in_flight(pool, seat, *run);
    return status;
  }
  note_unsynced(fs, *map.inode);
  if (file != nullptr)
    note_filling(*file, piece.offset, end + (piece.offset - at),
                 (file_block + run->count) << block_shift, run->zero);
  const uint64_t entries = as_leaf ? 1 : run->count;
  if (as_leaf) {
    if (!publish_leaf(fs, *cursor.word, *run, map, file_block)) piece.size = 0;
  } else {
    for (uint64_t i = 0; i < run->count; ++i) {
      if (Status s = publish(fs, map, cursor.word[i], run->first.plus(i), file_block + i, piece);
          !s.ok())
        status = s;
    }
  }
  if (Status s = persist_published(pool, cursor.word, entries); !s.ok()) status = s;
  pool::clear_in_flight(pool, seat, *run);
  CAIRN_TRY(status);
  if (!pool.is_volatile) {  // other processes may have made the nodes above
    CAIRN_TRY(walk(pool, map, file_block, &cursor));
    CAIRN_TRY(persist_marked(pool, map, file_block, 1, cursor));
  }
  return piece.size;
}

}  // namespace cairn::file
