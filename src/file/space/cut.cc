#include "file/space/cut.h"

#include <algorithm>
#include <array>

#include "file/inode/reclaim.h"
#include "pool/space/space.h"

namespace cairn::file {
namespace {

using format::block_shift;
using format::block_size;
using format::node_entries;

// The nodes taken for one cut: at most four on each edge.
struct TakenNodes {
  std::array<pool::BlockRun, format::in_flight_slots> run;
  unsigned count = 0;
};

bool covers(FileBlocks range, uint64_t base, unsigned level) {
  return range.from <= base && base + span_of(level) <= range.to;
}
bool touches(FileBlocks range, uint64_t base, unsigned level) {
  return range.from < base + span_of(level) && base < range.to;
}

class Cutter {
 public:
  Cutter(FileSystem& fs, LocalSeat& seat, const Map& map, FileBlocks range)
      : pool_(fs.pool), seat_(seat), map_(map), range_(range) {}

  // Makes a copy of the node without the entries in the range. Returns the entry that names the
  // copy.
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

  // Cuts the range from the map as part of `change`; the blocks cut hang from `orphan`.
  Status cut(pool::RedoChange& change, Inode& orphan) {
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
    return Status();  // commit() waits for that before it applies the change
  }

  void clear_in_flight() {
    for (unsigned i = 0; i < taken_.count; ++i) pool::clear_in_flight(pool_, seat_, taken_.run[i]);
  }
  void undo() {
    for (unsigned i = 0; i < taken_.count; ++i)
      pool::give_back(pool_, taken_.run[i].first, taken_.run[i].count);
    clear_in_flight();
  }

 private:
  Pool& pool_;
  LocalSeat& seat_;
  const Map& map_;
  FileBlocks range_;
  TakenNodes taken_;
};

// Turns a leaf that the range covers only in part into a node of 512 blocks, by one word.
Status split_leaf(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t file_block) {
  MapCursor cursor;
  if (file_block >= max_file_blocks) return Status();
  CAIRN_TRY(walk(fs.pool, map, file_block, &cursor));
  if (cursor.level != 1 || cursor.entry.kind() != Kind::leaf) return Status();
  const uint64_t base = base_of(file_block, 1);
  auto run = pool::take(
      fs.pool, seat,
      {.inode = map.number, .file_block = base, .level = 1, .need = pool::Need::reserve});
  if (!run.ok()) return run.status();
  std::array<uint64_t, node_entries> entries;
  for (uint64_t i = 0; i < node_entries; ++i)
    entries[i] =
        Entry::make(Kind::block, cursor.entry.block().plus(i), map.number, base + i, 0).value;
  Status status = fs.pool.copy_in(run->first, 0, entries.data(), block_size);
  if (status.ok()) status = fs.pool.fence();
  if (!status.ok()) {
    pool::give_back(fs.pool, run->first, 1);
  } else {
    fs.pool.store_flush(*cursor.word,
                        Entry::make(Kind::node, run->first, map.number, base, 1).value);
  }
  pool::clear_in_flight(fs.pool, seat, *run);
  return status;
}

// Finds out whether anything is mapped in the range.
class Finder final : public MapVisitor {
 public:
  bool data(Word&, Entry, uint64_t, uint64_t) override { return false; }
  bool node(Word&, Entry, uint64_t, unsigned) override { return false; }
  bool damage(Word&, uint64_t, unsigned) override { return false; }
};

}  // namespace

bool anything_in(const FileSystem& fs, const Map& map, FileBlocks range) {
  Finder finder;
  return !visit_map(fs.pool, map, range.from, range.to, finder);
}

Status cut_range(FileSystem& fs, LocalSeat& seat, const Map& map, FileBlocks range,
                 pool::RedoChange& change) {
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
  cutter.clear_in_flight();
  return status;
}

Status cut_all(FileSystem& fs, LocalSeat& seat, const Map& map, pool::RedoChange& change) {
  return cut_range(fs, seat, map, {0, max_file_blocks}, change);
}

}  // namespace cairn::file
