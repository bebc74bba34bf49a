#include "file/cut.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <vector>

#include "file/access.h"
#include "file/attributes.h"
#include "file/fill_ahead.h"
#include "file/io.h"
#include "file/pins.h"
#include "file/reclaim.h"
#include "file/shape.h"
#include "file/sync.h"

namespace cairn::file {
namespace {

using format::block_shift;
using format::block_size;
using format::node_entries;

// Nodes taken for one cut: at most four on each edge.
struct Taken {
  std::array<pool::Run, format::in_flight_slots> run;
  unsigned count = 0;
};

struct Range {
  uint64_t from;
  uint64_t to;
};

bool covers(Range range, uint64_t base, unsigned level) {
  return range.from <= base && base + span_of(level) <= range.to;
}
bool touches(Range range, uint64_t base, unsigned level) {
  return range.from < base + span_of(level) && base < range.to;
}

class Cutter {
 public:
  Cutter(FileSystem& fs, LocalSeat& seat, const Map& map, Range range)
      : pool_(fs.pool), seat_(seat), map_(map), range_(range) {}

  // A copy of the node without what lies in the range; the entry that names it.
  Result<Entry> without_range(Entry entry, uint64_t base, unsigned level) {
    if (!pool_.valid(entry.block()) || !entry.belongs_to(map_.number, base, level) ||
        entry.kind() != Kind::node)
      return damaged(pool_, map_, base);
    std::array<uint64_t, node_entries> kept;
    Word* node = node_at(pool_, entry.block());
    const uint64_t span = span_of(level - 1);
    for (uint64_t i = 0; i < node_entries; ++i) {
      const uint64_t child_base = base + i * span;
      kept[i] = node[i].load();
      if (kept[i] == 0 || !touches(range_, child_base, level - 1)) continue;
      if (covers(range_, child_base, level - 1)) {
        kept[i] = 0;
        continue;
      }
      auto child = without_range(Entry{kept[i]}, child_base, level - 1);
      if (!child.ok()) return child;
      kept[i] = child->value;
    }
    auto run = pool::take(
        pool_, seat_,
        {.inode = map_.number, .file_block = base, .level = level, .need = pool::Need::reserve});
    if (!run.ok()) return run.status();
    taken_.run[taken_.count++] = *run;
    CAIRN_TRY(pool_.copy_in(run->first, 0, kept.data(), block_size));
    return Entry::make(Kind::node, run->first, map_.number, base, level);
  }

  // The range is cut from the map as part of `change`; what is cut hangs from `orphan`.
  Status cut(pool::Change& change, Inode& orphan) {
    Inode& inode = *map_.inode;
    pool_.store(orphan.orphan_of, map_.number);
    for (uint64_t b = range_.from; b < format::direct_entries && b < range_.to; ++b) {
      pool_.store(orphan.direct[b], inode.direct[b].load());
      if (inode.direct[b].load() != 0) change.set(inode.direct[b], 0);
    }
    for (unsigned level = 1; level <= format::root_levels; ++level) {
      Word& root = inode.root[level - 1];
      const uint64_t begin = level == 1 ? format::direct_entries : span_of(level - 1);
      if (root.load() == 0 || range_.to <= begin || range_.from >= span_of(level)) continue;
      pool_.store(orphan.root[level - 1], root.load());
      if (range_.from <= begin && range_.to >= span_of(level)) {
        change.set(root, 0);
        continue;
      }
      auto entry = without_range(Entry{root.load()}, 0, level);
      if (!entry.ok()) return entry.status();
      change.set(root, entry->value);
    }
    pool_.store(orphan.orphan_from, range_.from);
    pool_.store(orphan.orphan_to, range_.to);
    pool_.store(orphan.flags, format::flag_change);
    pool_.flush(&orphan, sizeof orphan);
    return Status();  // the change waits for that before it makes it happen
  }

  void settle() {
    for (unsigned i = 0; i < taken_.count; ++i) pool::settle(pool_, seat_, taken_.run[i]);
  }
  void undo() {
    for (unsigned i = 0; i < taken_.count; ++i)
      pool::give_back(pool_, taken_.run[i].first, taken_.run[i].count);
    settle();
  }

 private:
  Pool& pool_;
  LocalSeat& seat_;
  const Map& map_;
  Range range_;
  Taken taken_;
};

// A leaf that the range covers only in part becomes a node of 512 blocks, by one word.
Status split_leaf(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t file_block) {
  Spot spot;
  if (file_block >= max_file_blocks) return Status();
  CAIRN_TRY(walk(fs.pool, map, file_block, &spot));
  if (spot.level != 1 || spot.entry.kind() != Kind::leaf) return Status();
  const uint64_t base = base_of(file_block, 1);
  auto run = pool::take(
      fs.pool, seat,
      {.inode = map.number, .file_block = base, .level = 1, .need = pool::Need::reserve});
  if (!run.ok()) return run.status();
  std::array<uint64_t, node_entries> entries;
  for (uint64_t i = 0; i < node_entries; ++i)
    entries[i] =
        Entry::make(Kind::block, spot.entry.block().plus(i), map.number, base + i, 0).value;
  Status status = fs.pool.copy_in(run->first, 0, entries.data(), block_size);
  if (status.ok()) status = fs.pool.fence();
  if (!status.ok()) {
    pool::give_back(fs.pool, run->first, 1);
  } else {
    fs.pool.store_flush(*spot.word, Entry::make(Kind::node, run->first, map.number, base, 1).value);
  }
  pool::settle(fs.pool, seat, *run);
  return status;
}

// Is anything mapped in the range?
class Finder final : public MapVisitor {
 public:
  bool data(Word&, Entry, uint64_t, uint64_t) override { return false; }
  bool node(Word&, Entry, uint64_t, unsigned) override { return false; }
  bool damage(Word&, uint64_t, unsigned) override { return false; }
};

bool anything_in(const FileSystem& fs, const Map& map, Range range) {
  Finder finder;
  return !visit_map(fs.pool, map, range.from, range.to, finder);
}

bool is_zero_block(const FileSystem& fs, const Map& map, uint64_t file_block) {
  Spot spot;
  if (!walk(fs.pool, map, file_block, &spot).ok()) return false;
  if (!spot.block) return true;
  const Word* word = node_at(fs.pool, spot.block);
  return std::all_of(word, word + block_size / sizeof(Word),
                     [](const Word& w) { return w.load_relaxed() == 0; });
}

void set_modified(pool::Change& change, const Map& map) {
  const uint64_t now = now_ns();
  change.set(map.inode->mtime, now);
  change.set(map.inode->ctime, now);
}

// The caller holds the inode's lock and has its shape to itself; `change` also gets the cut.
Status cut_range(FileSystem& fs, LocalSeat& seat, const Map& map, Range range,
                 pool::Change& change) {
  if (range.from >= range.to || !anything_in(fs, map, range)) return change.commit();
  CAIRN_TRY(split_leaf(fs, seat, map, range.from));
  CAIRN_TRY(split_leaf(fs, seat, map, range.to));
  auto orphan = make_inode(fs, seat, 0, pool::Need::reserve);
  if (!orphan.ok()) return orphan.status();
  Cutter cutter(fs, seat, map, range);
  Status status = cutter.cut(change, *orphan->inode);
  if (!status.ok()) {
    cutter.undo();
    unmake_inode(fs, seat, *orphan);
    return status;
  }
  {
    const uint64_t end = (map.inode->size.load() + block_size - 1) >> block_shift;
    OrphanList list(fs, seat);
    status = list.commit(change, {orphan->inode, orphan->number},
                         std::max(std::min(range.to, end), range.from) - range.from);
  }
  inode_is_made(fs, seat);
  cutter.settle();
  return status;
}

}  // namespace

namespace {

Status truncate_once(FileSystem& fs, const Map& map, uint64_t size, uint64_t generation) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  {
    pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
    CAIRN_TRY(check_generation(map, generation));
    if (fs.lower != nullptr && is_lazy(*map.inode)) return became_lazy;
    ShapeChange change(fs, *seat, *map.inode, map.number);
    const Range cut = {(size + block_size - 1) >> block_shift, max_file_blocks};
    const bool keep = anything_in(fs, map, cut) && is_pinned(fs, map.number);
    // Bytes beyond the new end must read as zeros if the file grows again; but not before the end
    // is there, for a killed truncate has happened or has not. The note makes recovery zero them.
    const uint64_t zero_to = keep ? max_file_size : cut.from << block_shift;
    const bool leaves_bytes = size < zero_to && size < map.inode->size.load();
    if (leaves_bytes) note_extension(fs, *seat, map.number, size, zero_to);
    pool::Change record(fs.pool, *seat);
    if (keep) record.set(map.inode->flags, map.inode->flags.load() | format::flag_kept);
    record.set(map.inode->size, size);
    // What grows again and is not synced must not survive by the size from before.
    const Word& synced = map.inode->file.synced_size;
    if (size < synced.load()) record.set(map.inode->file.synced_size, size);
    if (size > synced.load()) note_unsynced(fs, *map.inode);
    set_modified(record, map);
    Status status = keep ? record.commit() : cut_range(fs, *seat, map, cut, record);
    if (leaves_bytes) {
      if (status.ok()) status = zero_mapped(fs, map, size, zero_to);
      fs.pool.store(seat->words->extending_inode, 0);
    }
    CAIRN_TRY(status);
  }
  reclaim_some(fs, *seat);
  return Status();
}

// Of a lazy file: what was staged so far. That changes no time.
enum class Punched : uint8_t { file, staged };

Status punch_once(FileSystem& fs, const Map& map, uint64_t offset, uint64_t size,
                  uint64_t generation, Punched what) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  {
    pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
    CAIRN_TRY(check_generation(map, generation));
    if (what == Punched::file && fs.lower != nullptr && is_lazy(*map.inode)) return became_lazy;
    ShapeChange change(fs, *seat, *map.inode, map.number);
    const uint64_t end = offset + size;
    const uint64_t first = (offset + block_size - 1) >> block_shift;
    const uint64_t last = end >> block_shift;
    // Who has the file mapped sees the hole at once, and what is stored there later is everybody's:
    // the blocks stay, empty.
    const bool keep = is_pinned(fs, map.number);
    if (keep || first > last) {  // or inside one block
      CAIRN_TRY(zero_mapped(fs, map, offset, end));
    } else {
      CAIRN_TRY(zero_mapped(fs, map, offset, first << block_shift));
      CAIRN_TRY(zero_mapped(fs, map, last << block_shift, end));
    }
    pool::Change record(fs.pool, *seat);
    if (what == Punched::file) set_modified(record, map);
    CAIRN_TRY(cut_range(fs, *seat, map, {first, keep ? first : last}, record));
  }
  reclaim_some(fs, *seat);
  return Status();
}

}  // namespace

Status truncate(FileSystem& fs, const Map& map, uint64_t size, uint64_t generation) {
  if (size > max_file_size)
    return fail(EFBIG, "inode %llu: size %llu is beyond the largest file",
                static_cast<unsigned long long>(map.number), static_cast<unsigned long long>(size));
  CAIRN_TRY(check_generation(map, generation));
  if (const auto remote = remote_of(fs, map)) return remote->set_size(size);
  for (;;) {
    if (fs.lower != nullptr && is_lazy(*map.inode))
      CAIRN_TRY(size == 0 ? fs.lower->discard(map.number, generation)
                          : fs.lower->stage(map.number));
    const Status status = with_room(fs, [&] { return truncate_once(fs, map, size, generation); });
    if (status != became_lazy) return status;
  }
}

void trim(FileSystem& fs, const Map& map) {
  const auto is_due = [&] {
    return (map.inode->flags.load() & format::flag_kept) != 0 && is_live(*map.inode) &&
           !is_pinned(fs, map.number);
  };
  if (!is_due()) return;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return;
  {
    pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
    ShapeChange change(fs, *seat, *map.inode, map.number);
    if (!is_due()) return;
    const uint64_t end = (map.inode->size.load() + block_size - 1) >> block_shift;
    pool::Change record(fs.pool, *seat);
    record.set(map.inode->flags, map.inode->flags.load() & ~format::flag_kept);
    cut_range(fs, *seat, map, {end, max_file_blocks}, record).ignore();  // the next one tries again
  }
  reclaim_some(fs, *seat);
}

bool free_ahead(FileSystem& fs, LocalSeat& seat, const Map& map, format::OpenFile& open) {
  // Mostly all has been written to: that is seen without a lock.
  const auto end_of = [](uint64_t note) {
    return format::ahead_from(note) + format::ahead_blocks(note);
  };
  if (const uint64_t note = open.ahead.load();
      note == 0 || !is_zero_block(fs, map, end_of(note) - 1))
    return false;
  {
    pool::LockGuard lock(fs.pool, seat, map.inode->lock);
    if (!S_ISREG(map.inode->mode.load()) || is_lazy(*map.inode)) return false;
    ShapeChange change(fs, seat, *map.inode, map.number);
    // Stores through mappings announce themselves to nobody.
    if (map.inode->links.load() == 0 || is_pinned(fs, map.number)) return false;
    // Taken only now, when no fallocate is under way that would count on these blocks.
    const uint64_t note = fs.pool.exchange(open.ahead, 0);
    if (open.inode.load() != map.number) return false;  // another file's meanwhile
    const uint64_t from = format::ahead_from(note);
    const uint64_t to = end_of(note);
    uint64_t first = to;
    while (first > from && is_zero_block(fs, map, first - 1)) --first;
    if (!anything_in(fs, map, {first, to})) return false;
    pool::Change record(fs.pool, seat);
    if (!cut_range(fs, seat, map, {first, to}, record).ok()) return false;
  }
  reclaim_some(fs, seat);
  return true;
}

void free_zeros(FileSystem& fs, const Map& map, uint64_t from, uint64_t to, uint64_t succeeded) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return;
  {
    pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
    ShapeChange change(fs, *seat, *map.inode, map.number);
    if (is_lazy(*map.inode) || is_pinned(fs, map.number) ||
        map.inode->file.preallocations.load() != succeeded)
      return;
    for (uint64_t first = from; first < to; ++first) {
      uint64_t end = first;
      while (end < to && is_zero_block(fs, map, end)) ++end;
      if (end == first) continue;
      if (anything_in(fs, map, {first, end})) {
        pool::Change record(fs.pool, *seat);
        cut_range(fs, *seat, map, {first, end}, record).ignore();  // they stay allocated
      }
      first = end;
    }
  }
  reclaim_some(fs, *seat);
}

Status punch(FileSystem& fs, const Map& map, uint64_t offset, uint64_t size, uint64_t generation) {
  if (size == 0 || offset > max_file_size || size > max_file_size - offset)
    return fail(EINVAL, "inode %llu: no such range", static_cast<unsigned long long>(map.number));
  for (;;) {
    if (fs.lower != nullptr && is_lazy(*map.inode)) CAIRN_TRY(fs.lower->stage(map.number));
    const Status status =
        with_room(fs, [&] { return punch_once(fs, map, offset, size, generation, Punched::file); });
    if (status != became_lazy) return status;
  }
}

Status drop_staged(FileSystem& fs, const Map& map, uint64_t generation) {
  const uint64_t size = (map.inode->size.load() + block_size - 1) & ~(block_size - 1);
  if (size == 0) return Status();
  return with_room(fs, [&] { return punch_once(fs, map, 0, size, generation, Punched::staged); });
}

Status cut_all(FileSystem& fs, LocalSeat& seat, const Map& map, pool::Change& change) {
  return cut_range(fs, seat, map, {0, max_file_blocks}, change);
}

}  // namespace cairn::file
