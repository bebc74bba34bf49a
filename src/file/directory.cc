#include "file/directory.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/crc32c.h"
#include "file/directory_slots.h"
#include "pool/lock.h"
#include "pool/seats.h"

namespace cairn::file {

namespace slots {

Status damaged_directory(const Map& directory) {
  return fail(EIO, "directory %llu is damaged", static_cast<unsigned long long>(directory.number));
}

uint8_t* find_block(const FileSystem& fs, const Map& directory, uint64_t file_block) {
  const uint64_t generation = directory.inode->generation.load();
  Spot spot;
  if (!walk(fs.pool, directory, file_block, &spot).ok() || !spot.block) return nullptr;
  uint8_t* place = fs.pool.at(spot.block);
  DirectoryBlocks* known = fs.directory_blocks.load(std::memory_order_acquire);
  if (known == nullptr) {
    auto fresh = std::make_unique<DirectoryBlocks>();
    if (fs.directory_blocks.compare_exchange_strong(known, fresh.get())) known = fresh.release();
  }
  if (is_live(*directory.inode)) known->remember(directory.number, generation, file_block, place);
  return place;
}

}  // namespace slots

namespace {

using namespace slots;  // NOLINT(google-build-using-namespace): the parts of this file

bool is_name(const Dirent* dirent, uint64_t head, const Name& name) {
  return (head & format::dirent_live) != 0 && format::dirent_hash(head) == name.hash &&
         format::dirent_length(head) == name.length &&
         std::memcmp(name_of(dirent, head), name.text, name.length) == 0;
}

bool find_once(const FileSystem& fs, const Map& directory, const Name& name, Slot* slot,
               Status* status) {
  const auto& words = directory.inode->directory;
  const uint64_t buckets = words.buckets.load();
  if (buckets == 0) return false;
  const Word* bucket = bucket_word(fs, directory, bucket_of(name.hash, buckets));
  if (bucket == nullptr) {
    *status = damaged_directory(directory);
    return false;
  }
  uint64_t link = bucket->load();
  for (unsigned steps = 0; link != 0; ++steps) {
    const uint64_t unit = link - 1;
    Dirent* dirent = dirent_at(fs, directory, unit);
    if (dirent == nullptr || steps > longest_chain) {
      *status = damaged_directory(directory);
      return false;
    }
    const uint64_t head = dirent->head.load();
    if (fits_block(unit, format::dirent_units(head)) && is_name(dirent, head, name)) {
      const uint64_t number = dirent->inode.load();
      const Inode* inode = inode_at(fs, number);
      *slot = {unit,
               dirent,
               head,
               number,
               inode == nullptr ? 0 : inode->generation.load(),
               has_identity(*dirent, head)};
      return true;
    }
    link = dirent->next.load();
  }
  return false;
}

// Does this thread hold the lock itself? It looks names up before it makes the shape odd.
bool is_mine(const Pool& pool, uint64_t lock_word) {
  const auto& mine = pool::detail::seat_cache;
  return std::any_of(std::begin(mine), std::end(mine), [&](const auto& cached) {
    return cached.serial == pool.serial && cached.seat->lock_word == lock_word;
  });
}

// Of a Waiter: half a millisecond.
constexpr unsigned patience_rounds = 220;

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
  const Word& lock = directory.inode->lock;
  unsigned rounds = 0;
  for (;;) {
    const uint64_t shape = directory.inode->shape.load();
    Slot slot;
    Status status;
    bool found = (shape & 1) == 0 && find_once(fs, directory, name, &slot, &status);
    persist::read_barrier();
    if ((shape & 1) != 0 || directory.inode->shape.load() != shape) {
      // Who changes a directory holds its lock as long as the shape is odd. Left so by damage, or by the
      // dead in a pool that is only looked at, it would be waited for in vain.
      const bool abandoned =
          (shape & 1) != 0 &&
          (pool::is_void(fs.pool, lock.load()) || is_mine(fs.pool, lock.load()) ||
           (fs.pool.no_liveness && ++rounds > patience_rounds)) &&
          directory.inode->shape.load() == shape;
      if (!abandoned) {
        waiter.wait_for_lock(lock.load());
        continue;
      }
      found = find_once(fs, directory, name, &slot, &status);
    }
    CAIRN_TRY(status);
    if (!found || (slot.is_whiteout() && !whiteouts)) return Status(ENOENT);
    return slot;
  }
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
    const Dirent* dirent = dirent_at(fs, directory, unit);
    if (dirent == nullptr) return damaged_directory(directory);
    const uint64_t head = dirent->head.load();
    const unsigned units = format::dirent_units(head);
    if (!fits_block(unit, units)) return damaged_directory(directory);
    const uint64_t here = unit;
    unit += units;
    if ((head & format::dirent_live) == 0) continue;
    const bool whiteout = (head & format::dirent_whiteout) != 0;
    if (whiteout && !whiteouts) continue;
    Listed& entry = listed[n++];
    entry.inode = dirent->inode.load();
    entry.unit = here;
    entry.cookie = unit;
    entry.type = format::dirent_type(head);
    entry.length = format::dirent_length(head);
    entry.whiteout = whiteout;
    entry.has_lower = has_identity(*dirent, head);
    if (entry.has_lower)
      entry.lower = {dirent->lower[0].load(), dirent->lower[1].load(), dirent->lower[2].load(),
                     dirent->lower[3].load()};
    std::memcpy(entry.name, name_of(dirent, head), entry.length);
    entry.name[entry.length] = '\0';
  }
  return n;
}

}  // namespace cairn::file
