#include "file/data/sync.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "file/data/access.h"
#include "file/inode/attributes.h"
#include "file/inode/shape.h"
#include "pool/lanes/seats.h"

namespace cairn::file {
namespace {

Status write_back(Pool& pool) {
  CAIRN_TRY(pool.see_growth());
  for (uint32_t s = 0; s < pool.segments.load(); ++s) {
    pool::Segment& segment = *pool.segment[s];
    if (segment.fd < 0) {  // simulated
      segment.region.flush(segment.base, segment.blocks << format::block_shift);
      CAIRN_TRY(segment.region.fence());
      continue;
    }
    // The kernel reports a failed write-back once, and may have dropped the pages; the failure is
    // remembered.
    int result = 0;
    do {
      result = fdatasync(segment.fd);
    } while (result != 0 && errno == EINTR);
    if (result != 0) segment.region.note_writeback_error(errno);
    if (const int error = segment.region.writeback_error(); error != 0)
      return fail(error, "%s: writing back segment %u: %s", pool.path.c_str(), s, strerror(error));
  }
  return Status();
}

// Clears the marks of entries whose blocks have been written back.
class MarkClearer final : public MapVisitor {
 public:
  explicit MarkClearer(Pool& pool) : pool_(pool) {}
  bool data(Word& word, Entry entry, uint64_t /*file_block*/, uint64_t /*blocks*/) override {
    return clear(word, entry);
  }
  bool node(Word& word, Entry entry, uint64_t /*file_block*/, unsigned /*level*/) override {
    return clear(word, entry);
  }
  bool any = false;

 private:
  bool clear(Word& word, Entry entry) {
    if ((entry.value & Entry::not_yet_durable) == 0) return true;
    uint64_t held = entry.value;
    pool_.compare_exchange(word, held, entry.value & ~Entry::not_yet_durable);
    any = true;
    return true;
  }
  Pool& pool_;
};

// Flushes bytes that mappings may have stored.
class Flusher final : public MapVisitor {
 public:
  explicit Flusher(Pool& pool) : pool_(pool) {}
  bool data(Word& /*word*/, Entry entry, uint64_t /*file_block*/, uint64_t blocks) override {
    pool_.flush(pool_.at(entry.block()), blocks << format::block_shift);
    return true;
  }

 private:
  Pool& pool_;
};

// Makes the size count: everything below it has been marked as durable, and the marks have arrived.
bool count_size(Pool& pool, Inode& inode) {
  const uint64_t size = inode.size.load();
  if (inode.file.synced_size.load() == size) return false;
  pool.store(inode.file.synced_size, size);
  return true;
}

Status sync_pages(FileSystem& fs, LocalSeat& seat, const Map& map) {
  // Writers wait: an entry made between the write-back and its marking would be marked wrongly.
  ShapeChange change(fs, seat, *map.inode, map.number);
  CAIRN_TRY(write_back(fs.pool));
  if (!S_ISREG(map.inode->mode.load()) || map.inode->file.unsynced.load() == 0) return Status();
  MarkClearer clearer(fs.pool);
  visit_map(fs.pool, map, 0, max_file_blocks, clearer);
  if (clearer.any) CAIRN_TRY(write_back(fs.pool));
  if (count_size(fs.pool, *map.inode)) CAIRN_TRY(write_back(fs.pool));
  fs.pool.store(map.inode->file.unsynced, 0);
  return Status();
}

template <typename Do>
void for_each_unsynced(FileSystem& fs, const Do& act) {
  const uint64_t numbers = fs.pool.state->itable_blocks.load() * format::inodes_per_block;
  for (uint64_t number = format::root_inode; number < numbers; ++number) {
    Inode* inode = inode_at(fs, number);
    if (inode != nullptr && is_live(*inode) && S_ISREG(inode->mode.load()) &&
        inode->file.unsynced.load() != 0)
      act(Map{inode, number});
  }
}

}  // namespace

Status sync_file(FileSystem& fs, const Map& map) {
  if (const auto remote = remote_of(fs, map)) return remote->sync();
  if (fs.pool.is_volatile) return Status();
  const bool mapped = (map.inode->flags.load() & format::flag_mapped) != 0;
  if (!is_page_medium(fs.pool) && !mapped && map.inode->stamps.load() == 0) return fs.pool.fence();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  // The lock is held so that no process takes a half-done marking for a complete one.
  pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
  // A synced file comes back with the times of its writes.
  fold_stamps(fs, map);
  if (is_page_medium(fs.pool)) return sync_pages(fs, *seat, map);
  Flusher flusher(fs.pool);
  if (mapped) visit_map(fs.pool, map, 0, max_file_blocks, flusher);
  return fs.pool.fence();
}

Status sync_everything(FileSystem& fs) {
  Pool& pool = fs.pool;
  CAIRN_TRY(write_back(pool));
  if (pool.state->unsynced.load() == 0) return Status();
  MarkClearer clearer(pool);
  for_each_unsynced(fs, [&](const Map& map) { visit_map(pool, map, 0, max_file_blocks, clearer); });
  CAIRN_TRY(write_back(pool));
  for_each_unsynced(fs, [&](const Map& map) {
    count_size(pool, *map.inode);
    pool.store(map.inode->file.unsynced, 0);
  });
  pool.store(pool.state->unsynced, 0);
  return write_back(pool);
}

}  // namespace cairn::file
