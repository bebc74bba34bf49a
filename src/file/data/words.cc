#include "file/data/words.h"

#include "file/inode/shape.h"
#include "file/map/persist_entry.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

Result<persist::Word*> word_at(FileSystem& fs, const Map& map, uint64_t offset) {
  const auto as_ull = [](uint64_t number) { return static_cast<unsigned long long>(number); };
  if (offset % sizeof(Word) != 0)
    return fail(EINVAL, "inode %llu: word at offset %llu", as_ull(map.number), as_ull(offset));
  // The seat announces a writer: later cuts leave the blocks to the holder of a pin.
  pool::SeatGuard seat(fs.pool, map.number);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  if (is_changing(*map.inode)) wait_for_shape(fs, seat, *map.inode, map.number);
  MapCursor cursor;
  const uint64_t file_block = offset >> format::block_shift;
  if (offset < map.inode->size.load()) CAIRN_TRY(walk(fs.pool, map, file_block, &cursor));
  if (!cursor.block)
    return fail(ENXIO, "inode %llu: no word at offset %llu", as_ull(map.number), as_ull(offset));
  if (!fs.pool.read_only) CAIRN_TRY(persist_marked(fs.pool, map, file_block, 1, cursor));
  return reinterpret_cast<Word*>(fs.pool.at(cursor.block)) +
         offset % format::block_size / sizeof(Word);
}

}  // namespace cairn::file
