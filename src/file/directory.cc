#include "file/directory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/crc32c.h"
#include "file/shape.h"
#include "pool/lock.h"

namespace cairn::file {
namespace {

using format::Dirent;
using format::unit_size;
using format::units_per_block;

// More steps than any sound chain has: a damaged one ends in an error, not in a circle.
constexpr unsigned longest_chain = 1U << 16;
constexpr uint64_t names_per_bucket = 2;
constexpr unsigned longest_split = 12;

Status damaged_directory(const Map& directory) {
  return fail(EIO, "directory %llu is damaged", static_cast<unsigned long long>(directory.number));
}

Result<Dirent*> dirent_at(const FileSystem& fs, const Map& directory, uint64_t unit) {
  Spot spot;
  CAIRN_TRY(walk(fs.pool, directory, format::unit_block(unit), &spot));
  if (!spot.block) return damaged_directory(directory);
  return reinterpret_cast<Dirent*>(fs.pool.at(spot.block) + unit % units_per_block * unit_size);
}

uint64_t bucket_of(uint32_t hash, uint64_t buckets) {
  const uint64_t floor = std::bit_floor(buckets);
  const uint64_t index = hash & (2 * floor - 1);
  return index < buckets ? index : hash & (floor - 1);
}

Result<Word*> bucket_word(const FileSystem& fs, const Map& directory, uint64_t bucket) {
  Spot spot;
  CAIRN_TRY(walk(fs.pool, directory, format::bucket_block(bucket), &spot));
  if (!spot.block) return damaged_directory(directory);
  return node_at(fs.pool, spot.block) + bucket % format::node_entries;
}

const char* name_of(const Dirent* dirent, uint64_t head) {
  return reinterpret_cast<const char*>(dirent) +
         ((head & format::dirent_lower) != 0 ? format::dirent_header_lower : format::dirent_header);
}

bool is_name(const Dirent* dirent, uint64_t head, const Name& name) {
  return (head & format::dirent_live) != 0 && format::dirent_hash(head) == name.hash &&
         format::dirent_length(head) == name.length &&
         std::memcmp(name_of(dirent, head), name.text, name.length) == 0;
}

// A slot must not run over its block's end.
bool fits_block(uint64_t unit, unsigned units) {
  return units >= 1 && units <= format::max_units && unit % units_per_block + units <= units_per_block;
}

bool find_once(const FileSystem& fs, const Map& directory, const Name& name, Slot* slot,
               Status* status) {
  const auto& words = directory.inode->directory;
  const uint64_t buckets = words.buckets.load();
  if (buckets == 0) return false;
  auto bucket = bucket_word(fs, directory, bucket_of(name.hash, buckets));
  if (!bucket.ok()) {
    *status = bucket.status();
    return false;
  }
  uint64_t link = (*bucket)->load();
  for (unsigned steps = 0; link != 0; ++steps) {
    const uint64_t unit = link - 1;
    auto dirent = dirent_at(fs, directory, unit);
    if (!dirent.ok() || steps > longest_chain) {
      *status = dirent.ok() ? damaged_directory(directory) : dirent.status();
      return false;
    }
    const uint64_t head = (*dirent)->head.load();
    if (fits_block(unit, format::dirent_units(head)) && is_name(*dirent, head, name)) {
      *slot = {unit, *dirent, head, (*dirent)->inode.load()};
      return true;
    }
    link = (*dirent)->next.load();
  }
  return false;
}

struct NewSlot {
  uint64_t unit = 0;
  Dirent* dirent = nullptr;
};

// A free slot of that many units, taken as part of the change.
Result<NewSlot> take_slot(FileSystem& fs, LocalSeat& seat, pool::Change& change,
                          const Map& directory, unsigned units) {
  auto& words = directory.inode->directory;
  const uint64_t free = change.get(words.free_slot[units]);
  if (free != 0) {
    auto dirent = dirent_at(fs, directory, free - 1);
    if (!dirent.ok()) return dirent.status();
    change.set(words.free_slot[units], change.get((*dirent)->next));
    return NewSlot{free - 1, *dirent};
  }
  uint64_t tail = change.get(words.tail);
  const auto rest = static_cast<unsigned>(units_per_block - tail % units_per_block);
  if (rest < units) {
    // What is left of the block becomes a free slot of its own.
    auto filler = dirent_at(fs, directory, tail);
    if (!filler.ok()) return filler.status();
    change.set((*filler)->next, change.get(words.free_slot[rest]));
    change.set((*filler)->head, format::dirent_head(0, 0, 0, rest, 0));
    change.set(words.free_slot[rest], tail + 1);
    tail += rest;
  }
  auto block = block_for(fs.pool, seat, directory, format::unit_block(tail), pool::Need::ordinary);
  if (!block.ok()) return block.status();
  change.set(words.tail, tail + units);
  const uint64_t bytes = (format::unit_block(tail) + 1) * format::block_size;
  if (change.get(directory.inode->size) < bytes) change.set(directory.inode->size, bytes);
  return NewSlot{tail, reinterpret_cast<Dirent*>(fs.pool.at(*block) +
                                                 tail % units_per_block * unit_size)};
}

void stamp_directory(pool::Change& change, const Map& directory) {
  const uint64_t now = now_ns();
  change.set(directory.inode->mtime, now);
  change.set(directory.inode->ctime, now);
}

void set_lower(pool::Change& change, Dirent& dirent, const LowerIdentity& lower) {
  change.set(dirent.lower[0], lower.device);
  change.set(dirent.lower[1], lower.inode);
  change.set(dirent.lower[2], lower.size);
  change.set(dirent.lower[3], lower.mtime);
}

// Takes a slot out of its chain and puts it into the free list.
Status unlink_slot(FileSystem& fs, pool::Change& change, const Map& directory, const Slot& slot,
                   const Name& name) {
  auto& words = directory.inode->directory;
  auto bucket = bucket_word(fs, directory, bucket_of(name.hash, words.buckets.load()));
  if (!bucket.ok()) return bucket.status();
  Word* link = *bucket;
  for (unsigned steps = 0; change.get(*link) != slot.unit + 1; ++steps) {
    if (change.get(*link) == 0 || steps > longest_chain) return damaged_directory(directory);
    auto dirent = dirent_at(fs, directory, change.get(*link) - 1);
    if (!dirent.ok()) return dirent.status();
    link = &(*dirent)->next;
  }
  const unsigned units = format::dirent_units(slot.head);
  change.set(*link, change.get(slot.dirent->next));
  change.set(slot.dirent->head, format::dirent_head(0, 0, 0, units, 0));
  change.set(slot.dirent->next, change.get(words.free_slot[units]));
  change.set(words.free_slot[units], slot.unit + 1);
  return Status();
}

// Puts a name into a slot of its own and in front of its chain.
Status insert_new(FileSystem& fs, LocalSeat& seat, pool::Change& change, const Map& directory,
                  const Name& name, uint64_t inode, unsigned type, const LowerIdentity* lower) {
  auto& words = directory.inode->directory;
  const unsigned units = format::units_for(name.length, lower != nullptr);
  auto slot = take_slot(fs, seat, change, directory, units);
  if (!slot.ok()) return slot.status();
  Dirent& dirent = *slot->dirent;
  auto bucket = bucket_word(fs, directory, bucket_of(name.hash, words.buckets.load()));
  if (!bucket.ok()) return bucket.status();
  // The slot is nobody's yet: its name may be written in place. Its words go into the change, because
  // a free slot's are in use until then.
  pool::Segment& segment = fs.pool.segment_of(&dirent);
  const auto at = Pool::offset_in(segment, &dirent) +
                  (lower != nullptr ? format::dirent_header_lower : format::dirent_header);
  CAIRN_TRY(segment.region.copy(at, name.text, name.length));
  change.set(dirent.inode, inode);
  change.set(dirent.next, change.get(**bucket));
  if (lower != nullptr) set_lower(change, dirent, *lower);
  change.set(dirent.head,
             format::dirent_head(name.hash, name.length, type, units,
                                 format::dirent_live | (lower != nullptr ? format::dirent_lower : 0)));
  change.set(**bucket, slot->unit + 1);
  return Status();
}

}  // namespace

Result<Name> make_name(const char* text, size_t length) {
  if (length > format::max_name)
    return fail(ENAMETOOLONG, "a name of %zu bytes; at most %u", length, format::max_name);
  const uint32_t crc = crc32c(0, text, length);
  return Name{text, static_cast<unsigned>(length), crc ^ (crc >> 15) * 0x9e3779b1U};
}

Result<Slot> find_name(const FileSystem& fs, const Map& directory, const Name& name,
                       bool whiteouts) {
  pool::Waiter waiter(fs.pool);
  for (;;) {
    const uint64_t shape = directory.inode->shape.load();
    Slot slot;
    Status status;
    const bool found = (shape & 1) == 0 && find_once(fs, directory, name, &slot, &status);
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((shape & 1) != 0 || directory.inode->shape.load() != shape) {
      waiter.wait_for_lock(directory.inode->lock.load());
      continue;
    }
    CAIRN_TRY(status);
    if (!found || (slot.is_whiteout() && !whiteouts)) return Status(ENOENT);
    return slot;
  }
}

Status grow_index(FileSystem& fs, LocalSeat& seat, const Map& directory) {
  auto& words = directory.inode->directory;
  const uint64_t buckets = words.buckets.load();
  if (buckets == 0) {
    auto block = block_for(fs.pool, seat, directory, format::bucket_block(0), pool::Need::ordinary);
    if (!block.ok()) return block.status();
    pool::Change change(fs.pool, seat);
    change.set(words.buckets, format::first_buckets);
    return change.commit();
  }
  if (words.entries.load() < buckets * names_per_bucket) return Status();
  const uint64_t old_bucket = buckets - std::bit_floor(buckets);
  auto block =
      block_for(fs.pool, seat, directory, format::bucket_block(buckets), pool::Need::ordinary);
  if (!block.ok()) return Status();  // a crowded index is slower, not wrong
  Word& new_word = node_at(fs.pool, *block)[buckets % format::node_entries];
  auto old_word = bucket_word(fs, directory, old_bucket);
  if (!old_word.ok()) return old_word.status();
  std::array<std::array<uint64_t, longest_split>, 2> chain;
  std::array<unsigned, 2> count{};
  for (uint64_t link = (*old_word)->load(); link != 0;) {
    auto dirent = dirent_at(fs, directory, link - 1);
    if (!dirent.ok()) return dirent.status();
    const uint32_t hash = format::dirent_hash((*dirent)->head.load());
    const unsigned side = bucket_of(hash, buckets + 1) == buckets ? 1 : 0;
    if (count[side] == longest_split) return Status();
    chain[side][count[side]++] = link;
    link = (*dirent)->next.load();
  }
  pool::Change change(fs.pool, seat);
  for (unsigned side = 0; side < 2; ++side) {
    for (unsigned i = 0; i < count[side]; ++i) {
      auto dirent = dirent_at(fs, directory, chain[side][i] - 1);
      if (!dirent.ok()) return dirent.status();
      change.set((*dirent)->next, i + 1 < count[side] ? chain[side][i + 1] : 0);
    }
  }
  change.set(**old_word, count[0] != 0 ? chain[0][0] : 0);
  change.set(new_word, count[1] != 0 ? chain[1][0] : 0);
  change.set(words.buckets, buckets + 1);
  DirectoryChange moving(fs, seat, *directory.inode, directory.number);
  return change.commit();
}

Status insert_name(FileSystem& fs, LocalSeat& seat, pool::Change& change, const Map& directory,
                   const Name& name, uint64_t inode, unsigned type, const LowerIdentity* lower) {
  auto& words = directory.inode->directory;
  auto before = find_name(fs, directory, name, true);
  if (before.ok()) {  // a whiteout
    replace_name(change, *before, inode, type);
    change.set(words.entries, change.get(words.entries) + 1);
    stamp_directory(change, directory);
    return Status();
  }
  if (before.code() != ENOENT) return before.status();
  CAIRN_TRY(insert_new(fs, seat, change, directory, name, inode, type, lower));
  change.set(words.entries, change.get(words.entries) + 1);
  stamp_directory(change, directory);
  return Status();
}

Status remove_name(FileSystem& fs, pool::Change& change, const Map& directory, const Slot& slot,
                   const Name& name) {
  auto& words = directory.inode->directory;
  if (slot.has_lower()) {
    change.set(slot.dirent->head, change.get(slot.dirent->head) | format::dirent_whiteout);
    change.set(slot.dirent->inode, 0);
  } else {
    CAIRN_TRY(unlink_slot(fs, change, directory, slot, name));
  }
  change.set(words.entries, change.get(words.entries) - 1);
  stamp_directory(change, directory);
  return Status();
}

void replace_name(pool::Change& change, const Slot& slot, uint64_t inode, unsigned type) {
  constexpr uint64_t type_mask = 0xfULL << 40;
  change.set(slot.dirent->inode, inode);
  change.set(slot.dirent->head,
             (change.get(slot.dirent->head) & ~(type_mask | format::dirent_whiteout)) |
                 static_cast<uint64_t>(type) << 40);
}

Status set_lower_identity(FileSystem& fs, LocalSeat& seat, const Map& directory, const Name& name,
                          const LowerIdentity* lower) {
  auto slot = find_name(fs, directory, name, true);
  if (!slot.ok()) return slot.status();
  pool::Change change(fs.pool, seat);
  if (slot->has_lower() && lower != nullptr) {
    set_lower(change, *slot->dirent, *lower);
    return change.commit();
  }
  if (lower == nullptr && !slot->has_lower()) return Status();
  DirectoryChange moving(fs, seat, *directory.inode, directory.number);
  // The slot's geometry depends on whether it has an identity: the name moves to another slot, first
  // in, then out, so that its old bytes stay whole until the change commits.
  if (!slot->is_whiteout())
    CAIRN_TRY(insert_new(fs, seat, change, directory, name, slot->inode, slot->type(), lower));
  CAIRN_TRY(unlink_slot(fs, change, directory, *slot, name));
  return change.commit();
}

Result<size_t> list_names(FileSystem& fs, LocalSeat& seat, const Map& directory, uint64_t cookie,
                          Listed* listed, size_t capacity, bool whiteouts) {
  if (fs.pool.read_only)
    return list_names_unlocked(fs, directory, cookie, listed, capacity, whiteouts);
  pool::LockGuard lock(fs.pool, seat, directory.inode->lock);
  return list_names_unlocked(fs, directory, cookie, listed, capacity, whiteouts);
}

Result<size_t> list_names_unlocked(const FileSystem& fs, const Map& directory, uint64_t cookie,
                                   Listed* listed, size_t capacity, bool whiteouts) {
  const uint64_t tail = directory.inode->directory.tail.load();
  size_t n = 0;
  uint64_t unit = cookie;
  while (unit < tail && n < capacity) {
    auto dirent = dirent_at(fs, directory, unit);
    if (!dirent.ok()) return dirent.status();
    const uint64_t head = (*dirent)->head.load();
    const unsigned units = format::dirent_units(head);
    if (!fits_block(unit, units)) return damaged_directory(directory);
    unit += units;
    if ((head & format::dirent_live) == 0) continue;
    const bool whiteout = (head & format::dirent_whiteout) != 0;
    if (whiteout && !whiteouts) continue;
    Listed& entry = listed[n++];
    entry.inode = (*dirent)->inode.load();
    entry.cookie = unit;
    entry.type = format::dirent_type(head);
    entry.length = format::dirent_length(head);
    entry.whiteout = whiteout;
    entry.has_lower = (head & format::dirent_lower) != 0;
    if (entry.has_lower)
      entry.lower = {(*dirent)->lower[0].load(), (*dirent)->lower[1].load(),
                     (*dirent)->lower[2].load(), (*dirent)->lower[3].load()};
    std::memcpy(entry.name, name_of(*dirent, head), entry.length);
    entry.name[entry.length] = '\0';
  }
  return n;
}

}  // namespace cairn::file
