#include "file/namespace/directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/crc32c.h"
#include "file/namespace/directory_slots.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

namespace {

using namespace slots;  // NOLINT(google-build-using-namespace): the parts of this file

bool is_name(const Dirent* dirent, uint64_t head, const Name& name) {
  return (head & format::dirent_live) != 0 && format::dirent_hash(head) == name.hash &&
         format::dirent_length(head) == name.length && fits_slot(head) &&
         std::memcmp(name_of(dirent, head), name.text, name.length) == 0;
}

bool find_once(const FileSystem& fs, const Map& directory, const Name& name, DirentSlot* slot,
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
               has_witness(*dirent, head)};
      return true;
    }
    link = dirent->next.load();
  }
  return false;
}

// Returns true if this thread holds the lock itself: it looks names up before it makes the shape
// odd.
bool is_mine(const Pool& pool, uint64_t lock_word) {
  const auto& mine = pool::detail::seat_cache;
  return std::any_of(std::begin(mine), std::end(mine), [&](const auto& cached) {
    return cached.serial == pool.serial && cached.seat->lock_word == lock_word;
  });
}

// The bit of a cookie behind an unsound name. It is above all units, and below the bits that the
// adapter's listing of several nodes uses.
constexpr uint64_t behind_unsound = 1ULL << 61;

// Checks eight bytes in one step. The result is not zero if one of them is a zero byte or a slash.
uint64_t has_unsound(uint64_t bytes) {
  constexpr uint64_t low = 0x0101010101010101ULL;
  const uint64_t slashes = bytes ^ 0x2f * low;
  return (((bytes - low) & ~bytes) | ((slashes - low) & ~slashes)) & low << 7;
}

template <typename T>
uint64_t load_as(const char* text) {
  T value;
  std::memcpy(&value, text, sizeof value);
  return value;
}

// Checks a name without a branch for each byte; a listing does so for every name.
[[gnu::always_inline]] inline bool holds_unsound(const char* text, size_t length) {
  if (length >= 8) {
    uint64_t any = has_unsound(load_as<uint64_t>(text + length - 8));
    for (size_t at = 0; at + 8 < length; at += 8) any |= has_unsound(load_as<uint64_t>(text + at));
    return any != 0;
  }
  if (length >= 4)
    return has_unsound(load_as<uint32_t>(text) | load_as<uint32_t>(text + length - 4) << 32) != 0;
  for (size_t at = 0; at < length; ++at) {
    if (text[at] == '\0' || text[at] == '/') return true;
  }
  return false;
}

[[gnu::always_inline]] inline bool is_sound(const char* text, size_t length) {
  if (length == 0 || length > format::max_name) return false;
  if (text[0] == '.' && (length == 1 || (length == 2 && text[1] == '.'))) return false;
  return !holds_unsound(text, length);
}

[[gnu::always_inline]] inline bool is_sound_slot(const Dirent* dirent, uint64_t head) {
  return fits_slot(head) && is_sound(name_of(dirent, head), format::dirent_length(head));
}

// Returns the error with which a listing that has met unsound names ends.
[[gnu::cold]] Status unsound_names(const FileSystem& fs, const Map& directory, bool whiteouts) {
  std::string first;
  uint64_t count = 0;
  Listed entry;
  for (uint64_t cookie = 0;;) {
    auto n = list_slots(fs, directory, cookie, &entry, 1);
    if (!n.ok() || *n == 0) break;
    cookie = entry.cookie;
    if (entry.sound || (entry.whiteout && !whiteouts)) continue;
    if (count++ == 0)
      first = "slot " + std::to_string(entry.unit) + " has the " +
              (entry.whiteout ? "removed name \"" : "name \"") +
              printable_name(entry.name, entry.length) + "\"";
  }
  if (count > 1) first += " and " + std::to_string(count - 1) + " more are like it";
  return fail(
      EUCLEAN,
      "directory %llu: %s, which is not a valid file name; run `cairn pool check` for details",
      static_cast<unsigned long long>(directory.number), first.c_str());
}

// Rounds of a Waiter: half a millisecond.
constexpr unsigned patience_rounds = 220;

}  // namespace

bool is_sound_name(const char* text, size_t length) { return is_sound(text, length); }

std::string printable_name(const char* text, size_t length) {
  constexpr size_t most = 64;
  std::string printable;
  for (size_t i = 0; i < std::min(length, most); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    constexpr const char* digits = "0123456789abcdef";
    if (byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '"')
      printable += text[i];
    else
      printable += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return length > most ? printable + "..." : printable;
}

Result<Name> make_name(const char* text, size_t length) {
  if (length > format::max_name)
    return fail(ENAMETOOLONG, "a name of %zu bytes; at most %u", length, format::max_name);
  const uint32_t crc = crc32c(0, text, length);
  return Name{text, static_cast<unsigned>(length), crc ^ (crc >> 15) * 0x9e3779b1U};
}

Result<DirentSlot> find_name(const FileSystem& fs, const Map& directory, const Name& name,
                             bool whiteouts) {
  pool::Waiter waiter(fs.pool);
  const Word& lock = directory.inode->lock;
  unsigned rounds = 0;
  for (;;) {
    const uint64_t shape = directory.inode->shape.load();
    DirentSlot slot;
    Status status;
    bool found = (shape & 1) == 0 && find_once(fs, directory, name, &slot, &status);
    persist::read_barrier();
    if ((shape & 1) != 0 || directory.inode->shape.load() != shape) {
      // A process that changes a directory holds its lock while the shape is odd. An odd shape
      // without an owner is left by damage, or by a dead process in a pool attached for reading;
      // waiting for it would be in vain.
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

namespace {

enum class Which : uint8_t { names, with_whiteouts, all };

Result<size_t> list(const FileSystem& fs, const Map& directory, uint64_t cookie, Listed* listed,
                    size_t capacity, Which which) {
  // The number is a file's: the directory was removed, or a name is damaged.
  if (!S_ISDIR(directory.inode->mode.load())) return size_t{0};
  const uint64_t tail = directory.inode->directory.tail.load();
  size_t n = 0;
  uint64_t unit = cookie & ~behind_unsound;
  uint64_t behind = cookie & behind_unsound;
  while (unit < tail && n < capacity) {
    const Dirent* dirent = dirent_at(fs, directory, unit);
    const uint64_t head = dirent == nullptr ? 0 : dirent->head.load();
    const unsigned units = format::dirent_units(head);
    if (dirent == nullptr || !fits_block(unit, units)) {
      if (n != 0) return n;  // the next call reports it
      return damaged_directory(directory);
    }
    const uint64_t here = unit;
    unit += units;
    if ((head & format::dirent_live) == 0) continue;
    const bool whiteout = (head & format::dirent_whiteout) != 0;
    if (whiteout && which == Which::names) continue;
    const bool sound = is_sound_slot(dirent, head);
    if (!sound && which != Which::all) [[unlikely]] {
      behind = behind_unsound;
      continue;
    }
    Listed& entry = listed[n++];
    entry.inode = dirent->inode.load();
    entry.unit = here;
    entry.cookie = unit | behind;
    entry.type = format::dirent_type(head);
    entry.length = std::min(format::dirent_length(head), room_for_name(head));
    entry.whiteout = whiteout;
    entry.sound = sound;
    entry.has_lower = room_for_name(head) != 0 && has_witness(*dirent, head);
    if (entry.has_lower) entry.lower = witness_in(*dirent, head);
    std::memcpy(entry.name, name_of(dirent, head), entry.length);
    entry.name[entry.length] = '\0';
  }
  if (n == 0 && capacity != 0 && behind != 0)
    return unsound_names(fs, directory, which == Which::with_whiteouts);
  return n;
}

}  // namespace

Result<size_t> list_names_unlocked(const FileSystem& fs, const Map& directory, uint64_t cookie,
                                   Listed* listed, size_t capacity, bool whiteouts) {
  return list(fs, directory, cookie, listed, capacity,
              whiteouts ? Which::with_whiteouts : Which::names);
}

Result<size_t> list_slots(const FileSystem& fs, const Map& directory, uint64_t cookie,
                          Listed* listed, size_t capacity) {
  return list(fs, directory, cookie, listed, capacity, Which::all);
}

}  // namespace cairn::file
