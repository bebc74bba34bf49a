// Changes of a directory's names. The caller of each function holds the directory's lock.
#include <array>

#include "file/inode/shape.h"
#include "file/map/map_growth.h"
#include "file/namespace/directory.h"
#include "file/namespace/directory_slots.h"
#include "file/namespace/name_changes.h"

namespace cairn::file {
namespace {

using namespace slots;  // NOLINT(google-build-using-namespace): the parts of this file

constexpr uint64_t names_per_bucket = 2;
constexpr unsigned longest_split = 12;

struct NewSlot {
  uint64_t unit = 0;
  Dirent* dirent = nullptr;
};

// Takes a free slot of that many units as part of the change.
Result<NewSlot> take_slot(FileSystem& fs, LocalSeat& seat, pool::RedoChange& change,
                          const Map& directory, unsigned units) {
  auto& words = directory.inode->directory;
  const uint64_t free = change.get(words.free_slot[units]);
  if (free != 0) {
    Dirent* dirent = dirent_at(fs, directory, free - 1);
    if (dirent == nullptr || !fits_block(free - 1, units)) return damaged_directory(directory);
    const uint64_t head = change.get(dirent->head);
    if ((head & format::dirent_live) != 0 || format::dirent_units(head) != units)
      return damaged_directory(directory);
    change.set(words.free_slot[units], change.get(dirent->next));
    return NewSlot{free - 1, dirent};
  }
  uint64_t tail = change.get(words.tail);
  const auto rest = static_cast<unsigned>(units_per_block - tail % units_per_block);
  if (rest < units) {
    // The rest of the block becomes a free slot of its own.
    Dirent* filler = dirent_at(fs, directory, tail);
    if (filler == nullptr) return damaged_directory(directory);
    change.set(filler->next, change.get(words.free_slot[rest]));
    change.set(filler->head, format::dirent_head(0, 0, 0, rest, 0));
    change.set(words.free_slot[rest], tail + 1);
    tail += rest;
  }
  auto block = block_for(fs.pool, seat, directory, format::unit_block(tail), pool::Need::ordinary);
  if (!block.ok()) return block.status();
  change.set(words.tail, tail + units);
  const uint64_t bytes = (format::unit_block(tail) + 1) * format::block_size;
  if (change.get(directory.inode->size) < bytes) change.set(directory.inode->size, bytes);
  return NewSlot{
      tail, reinterpret_cast<Dirent*>(fs.pool.at(*block) + tail % units_per_block * unit_size)};
}

void stamp_directory(pool::RedoChange& change, const Map& directory, uint64_t now) {
  if (now == 0) return;
  change.set(directory.inode->mtime, now);
  change.set(directory.inode->ctime, now);
}

void set_lower(pool::RedoChange& change, Dirent& dirent, const Witness& lower) {
  const WitnessWords words = words_of(lower);
  for (unsigned i = 0; i < format::dirent_lower_words(change.get(dirent.head)); ++i)
    change.set(dirent.lower[i], words[i]);
}

// Returns the flags for the words of Dirent::lower that a new slot has: none, or as many as the
// pool's format provides.
uint64_t lower_flags(const Pool& pool, bool has_room) {
  if (!has_room) return 0;
  const bool is_full =
      (pool.superblock().features_incompatible.load() & format::feature_witness) != 0;
  return format::dirent_lower | (is_full ? format::dirent_witness : 0);
}

// Takes a slot out of its chain and adds it to the free list.
Status unlink_slot(FileSystem& fs, pool::RedoChange& change, const Map& directory,
                   const DirentSlot& slot, const Name& name) {
  auto& words = directory.inode->directory;
  Word* link = bucket_word(fs, directory, bucket_of(name.hash, words.buckets.load()));
  if (link == nullptr) return damaged_directory(directory);
  for (unsigned steps = 0; change.get(*link) != slot.unit + 1; ++steps) {
    if (change.get(*link) == 0 || steps > longest_chain) return damaged_directory(directory);
    Dirent* dirent = dirent_at(fs, directory, change.get(*link) - 1);
    if (dirent == nullptr) return damaged_directory(directory);
    link = &dirent->next;
  }
  const unsigned units = format::dirent_units(slot.head);
  change.set(*link, change.get(slot.dirent->next));
  change.set(slot.dirent->head, format::dirent_head(0, 0, 0, units, 0));
  change.set(slot.dirent->next, change.get(words.free_slot[units]));
  change.set(words.free_slot[units], slot.unit + 1);
  return Status();
}

// Stores a name in a slot of its own and puts it in front of its chain.
Status insert_new(FileSystem& fs, LocalSeat& seat, pool::RedoChange& change, const Map& directory,
                  const Name& name, uint64_t inode, unsigned type, const Witness* lower) {
  auto& words = directory.inode->directory;
  const bool room = lower != nullptr || (directory.inode->flags.load() & format::flag_covered) != 0;
  const uint64_t flags = format::dirent_live | lower_flags(fs.pool, room);
  const unsigned units = format::units_for(name.length, flags);
  auto slot = take_slot(fs, seat, change, directory, units);
  if (!slot.ok()) return slot.status();
  Dirent& dirent = *slot->dirent;
  Word* bucket = bucket_word(fs, directory, bucket_of(name.hash, words.buckets.load()));
  if (bucket == nullptr) return damaged_directory(directory);
  const uint64_t head = format::dirent_head(name.hash, name.length, type, units, flags);
  // The name and witness are written in place, because no process uses the slot yet. The slot's
  // first words go through the change: the free list uses them until then.
  pool::Segment& segment = fs.pool.segment_of(&dirent);
  if (room) {
    const WitnessWords witness = words_of(lower != nullptr ? *lower : Witness{});
    const unsigned count = format::dirent_lower_words(head);
    for (unsigned i = 0; i < count; ++i) segment.region.store(dirent.lower[i], witness[i]);
    segment.region.flush(dirent.lower, count * sizeof(Word));
  }
  CAIRN_TRY(
      segment.region.copy(Pool::offset_in(segment, &dirent) + format::dirent_name_offset(head),
                          name.text, name.length));
  change.set(dirent.inode, inode);
  change.set(dirent.next, change.get(*bucket));
  change.set(dirent.head, head);
  change.set(*bucket, slot->unit + 1);
  return Status();
}

}  // namespace

Status grow_index(FileSystem& fs, LocalSeat& seat, const Map& directory) {
  auto& words = directory.inode->directory;
  const uint64_t buckets = words.buckets.load();
  if (buckets == 0) {
    auto block = block_for(fs.pool, seat, directory, format::bucket_block(0), pool::Need::ordinary);
    if (!block.ok()) return block.status();
    pool::RedoChange change(fs.pool, seat);
    change.set(words.buckets, format::first_buckets);
    return change.commit();
  }
  if (words.entries.load() < buckets * names_per_bucket) return Status();
  const uint64_t old_bucket = buckets - std::bit_floor(buckets);
  auto block =
      block_for(fs.pool, seat, directory, format::bucket_block(buckets), pool::Need::ordinary);
  if (!block.ok()) return Status();  // a crowded index is slower, not wrong
  Word& new_word = node_at(fs.pool, *block)[buckets % format::node_entries];
  Word* old_word = bucket_word(fs, directory, old_bucket);
  if (old_word == nullptr) return damaged_directory(directory);
  std::array<std::array<uint64_t, longest_split>, 2> chain;
  std::array<unsigned, 2> count{};
  for (uint64_t link = old_word->load(); link != 0;) {
    const Dirent* dirent = dirent_at(fs, directory, link - 1);
    if (dirent == nullptr) return damaged_directory(directory);
    const uint32_t hash = format::dirent_hash(dirent->head.load());
    const unsigned side = bucket_of(hash, buckets + 1) == buckets ? 1 : 0;
    if (count[side] == longest_split) return Status();
    chain[side][count[side]++] = link;
    link = dirent->next.load();
  }
  pool::RedoChange change(fs.pool, seat);
  for (unsigned side = 0; side < 2; ++side) {
    for (unsigned i = 0; i < count[side]; ++i) {
      Dirent* dirent = dirent_at(fs, directory, chain[side][i] - 1);
      if (dirent == nullptr) return damaged_directory(directory);
      change.set(dirent->next, i + 1 < count[side] ? chain[side][i + 1] : 0);
    }
  }
  change.set(*old_word, count[0] != 0 ? chain[0][0] : 0);
  change.set(new_word, count[1] != 0 ? chain[1][0] : 0);
  change.set(words.buckets, buckets + 1);
  DirectoryChange moving(fs, seat, *directory.inode, directory.number);
  return change.commit();
}

Result<DirentSlot> place_for(const FileSystem& fs, const Map& directory, const Name& name) {
  auto before = find_name(fs, directory, name, true);
  if (before.code() == ENOENT) return DirentSlot();
  if (!before.ok() || before->is_whiteout()) return before;
  return fail(EEXIST, "%.*s: file exists", static_cast<int>(name.length), name.text);
}

Status insert_name(FileSystem& fs, LocalSeat& seat, pool::RedoChange& change, const Map& directory,
                   const Name& name, const DirentSlot& place, const NewDirent& made) {
  auto& words = directory.inode->directory;
  if (place.dirent != nullptr)
    replace_name(change, place, made.inode, made.type);
  else
    CAIRN_TRY(insert_new(fs, seat, change, directory, name, made.inode, made.type, made.lower));
  change.set(words.entries, change.get(words.entries) + 1);
  stamp_directory(change, directory, made.now);
  return Status();
}

Status remove_name(FileSystem& fs, pool::RedoChange& change, const Map& directory,
                   const DirentSlot& slot, const Name& name, uint64_t now) {
  auto& words = directory.inode->directory;
  if (slot.has_lower) {
    note_name_change(fs.pool);
    change.set(slot.dirent->head, change.get(slot.dirent->head) | format::dirent_whiteout);
    change.set(slot.dirent->inode, 0);
  } else {
    CAIRN_TRY(unlink_slot(fs, change, directory, slot, name));
  }
  change.set(words.entries, change.get(words.entries) - 1);
  stamp_directory(change, directory, now);
  return Status();
}

void replace_name(pool::RedoChange& change, const DirentSlot& slot, uint64_t inode, unsigned type) {
  constexpr uint64_t type_mask = 0xfULL << 40;
  change.set(slot.dirent->inode, inode);
  change.set(slot.dirent->head,
             (change.get(slot.dirent->head) & ~(type_mask | format::dirent_whiteout)) |
                 static_cast<uint64_t>(type) << 40);
}

Status set_lower_witness(FileSystem& fs, LocalSeat& seat, const Map& directory, const Name& name,
                         const Witness* lower) {
  auto slot = find_name(fs, directory, name, true);
  if (!slot.ok()) return slot.status();
  pool::RedoChange change(fs.pool, seat);
  const bool has_room = (slot->head & format::dirent_lower) != 0;
  if (lower == nullptr && !slot->is_whiteout()) {
    if (!slot->has_lower) return Status();
    set_lower(change, *slot->dirent, {});
    return change.commit();
  }
  if (lower != nullptr && has_room) {
    set_lower(change, *slot->dirent, *lower);
    return change.commit();
  }
  DirectoryChange moving(fs, seat, *directory.inode, directory.number);
  // The name moves to a slot with room for a witness, unless it was a whiteout, which ends. It is
  // inserted before it is removed, so that its old bytes stay whole until the change commits.
  if (lower != nullptr)
    CAIRN_TRY(insert_new(fs, seat, change, directory, name, slot->inode, slot->type(), lower));
  CAIRN_TRY(unlink_slot(fs, change, directory, *slot, name));
  return change.commit();
}

}  // namespace cairn::file
