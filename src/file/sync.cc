#include "file/sync.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "file/shape.h"
#include "pool/seats.h"

namespace cairn::file {
namespace {

Status write_back(Pool& pool) {
  for (uint32_t s = 0; s < pool.segments.load(); ++s) {
    pool::Segment& segment = *pool.segment[s];
    if (segment.fd < 0) {  // simulated
      segment.region.flush(segment.base, segment.blocks << format::block_shift);
      CAIRN_TRY(segment.region.fence());
    } else if (fdatasync(segment.fd) != 0)
      return fail(errno, "%s: writing back segment %u: %s", pool.path.c_str(), s, strerror(errno));
  }
  return Status();
}

// Marks what has been written back as durable, or flushes what mappings may have stored.
class Settler final : public MapVisitor {
 public:
  Settler(Pool& pool, bool page_medium) : pool_(pool), page_medium_(page_medium) {}
  bool data(Word& word, Entry entry, uint64_t /*file_block*/, uint64_t blocks) override {
    if (page_medium_) {
      settle(word, entry);
    } else {
      pool_.flush(pool_.at(entry.block()), blocks << format::block_shift);
    }
    return true;
  }
  bool node(Word& word, Entry entry, uint64_t /*file_block*/, unsigned /*level*/) override {
    if (page_medium_) settle(word, entry);
    return true;
  }

 private:
  void settle(Word& word, Entry entry) {
    if ((entry.value & Entry::not_yet_durable) == 0) return;
    uint64_t held = entry.value;
    pool_.compare_exchange(word, held, entry.value & ~Entry::not_yet_durable);
  }
  Pool& pool_;
  bool page_medium_;
};

}  // namespace

Status sync_file(FileSystem& fs, const Map& map) {
  if (fs.pool.is_volatile) return Status();
  const bool page_medium = fs.pool.segment[0]->region.granularity() == persist::Granularity::page;
  const bool mapped = (map.inode->flags.load() & format::flag_mapped) != 0;
  if (!page_medium && !mapped) return fs.pool.fence();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  // Held, so that nobody takes a half-done marking for a done one.
  pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
  Settler settler(fs.pool, page_medium);
  if (page_medium) {
    // Writers wait: an entry made between the write-back and its marking would be a lie.
    ShapeChange change(fs, *seat, *map.inode, map.number);
    CAIRN_TRY(write_back(fs.pool));
    visit_map(fs.pool, map, 0, max_file_blocks, settler);
    return write_back(fs.pool);
  }
  visit_map(fs.pool, map, 0, max_file_blocks, settler);
  return fs.pool.fence();
}

}  // namespace cairn::file
