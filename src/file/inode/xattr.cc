#include "file/inode/xattr.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "file/inode/reclaim.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"
#include "pool/space/space.h"

namespace cairn::file {
namespace {

struct StoredAttribute {
  std::string name;
  std::string value;
};

// The format on the medium: records of { u16 name length, u16 value length, name, value }; length 0
// ends.
constexpr size_t record_header = 4;
constexpr size_t most_bytes = format::block_size - 2;

Result<std::vector<StoredAttribute>> load(FileSystem& fs, const Map& map) {
  std::vector<StoredAttribute> attributes;
  const Entry entry{map.inode->xattr.load()};
  if (!entry) return attributes;
  if (!fs.pool.valid(entry.block()) || !entry.belongs_to(map.number, 0, format::level_xattr))
    return fail(EIO, "inode %llu: its extended attributes are damaged",
                static_cast<unsigned long long>(map.number));
  std::string bytes(format::block_size, '\0');
  CAIRN_TRY(fs.pool.region(entry.block())
                .read(bytes.data(), entry.block().index() << format::block_shift, bytes.size()));
  for (size_t at = 0; at + record_header <= bytes.size();) {
    uint16_t lengths[2];
    std::memcpy(lengths, bytes.data() + at, sizeof lengths);
    if (lengths[0] == 0) break;
    at += record_header;
    // A system call would take the bytes before a zero byte for the whole name.
    if (at + lengths[0] + lengths[1] > bytes.size() ||
        std::memchr(bytes.data() + at, 0, lengths[0]) != nullptr)
      return fail(EIO, "inode %llu: its extended attributes are damaged",
                  static_cast<unsigned long long>(map.number));
    attributes.push_back({bytes.substr(at, lengths[0]), bytes.substr(at + lengths[0], lengths[1])});
    at += lengths[0] + lengths[1];
  }
  return attributes;
}

// Tells whether a program made the change, which then sets the ctime.
enum class SetsTime : uint8_t { no, yes };

// Replaces the block. The old one goes to an orphan, because readers may be copying from it.
Status save(FileSystem& fs, LocalSeat& seat, const Map& map,
            const std::vector<StoredAttribute>& attributes, SetsTime stamp) {
  std::string bytes;
  for (const StoredAttribute& attribute : attributes) {
    const uint16_t lengths[2] = {static_cast<uint16_t>(attribute.name.size()),
                                 static_cast<uint16_t>(attribute.value.size())};
    bytes.append(reinterpret_cast<const char*>(lengths), sizeof lengths);
    bytes += attribute.name + attribute.value;
  }
  if (bytes.size() > most_bytes)
    return fail(ENOSPC, "inode %llu: its extended attributes would take %zu bytes, at most %zu",
                static_cast<unsigned long long>(map.number), bytes.size(), most_bytes);
  bytes.resize(format::block_size, '\0');
  Pool& pool = fs.pool;
  pool::RedoChange change(pool, seat);
  pool::BlockRun run;
  if (!attributes.empty()) {
    auto taken = pool::take(
        pool, seat, {.inode = map.number, .level = format::level_xattr, .use = pool::Use::lookup});
    if (!taken.ok()) return taken.status();
    run = *taken;
  }
  Status status;
  NewInode orphan;
  const uint64_t old = map.inode->xattr.load();
  if (run.count != 0) status = pool.copy_in(run.first, 0, bytes.data(), bytes.size());
  if (status.ok() && old != 0) {
    auto made = make_inode(fs, seat, 0, pool::Need::reserve);
    status = made.status();
    if (made.ok()) orphan = *made;
  }
  if (!status.ok()) {
    if (run.count != 0) {
      pool::give_back(pool, run.first, 1);
      pool::clear_in_flight(pool, seat, run);
    }
    return status;
  }
  change.set(map.inode->xattr,
             run.count == 0
                 ? 0
                 : Entry::make(Kind::block, run.first, map.number, 0, format::level_xattr).value);
  if (stamp == SetsTime::yes) change.set(map.inode->ctime, now_ns());
  if (orphan.inode != nullptr) {
    pool.store(orphan.inode->xattr, old);
    pool.store(orphan.inode->flags, format::flag_change);
    pool.store(orphan.inode->orphan_of, map.number);
    pool.flush(orphan.inode, sizeof(Inode));
    OrphanList list(fs, seat);
    status = list.commit(change, {orphan.inode, orphan.number}, 1);
    inode_is_made(fs, seat);
  } else {
    status = change.commit();
  }
  if (run.count != 0) pool::clear_in_flight(pool, seat, run);
  return status;
}

auto find(std::vector<StoredAttribute>& attributes, const std::string& name) {
  return std::find_if(attributes.begin(), attributes.end(),
                      [&name](const StoredAttribute& a) { return a.name == name; });
}

Status missing(const Map& map, const std::string& name) {
  return fail(ENODATA, "inode %llu has no attribute %s",
              static_cast<unsigned long long>(map.number), name.c_str());
}

Status set(FileSystem& fs, const Map& map, const std::string& name, std::string_view value,
           int flags, uint64_t generation, SetsTime stamp) {
  CAIRN_TRY(fs.pool.check_writable());
  const size_t size = value.size();
  if (name.empty() || name.size() > 255)
    return fail(ERANGE, "invalid attribute name: %zu bytes", name.size());
  if (size > most_bytes)
    return fail(ENOSPC, "attribute %s: %zu bytes, at most %zu", name.c_str(), size, most_bytes);
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
  CAIRN_TRY(check_generation(map, generation));
  auto attributes = load(fs, map);
  if (!attributes.ok()) return attributes.status();
  const auto at = find(*attributes, name);
  const bool there = at != attributes->end();
  if (there && (flags & 1) != 0) return fail(EEXIST, "attribute %s exists", name.c_str());
  if (!there && (flags & 2) != 0) return missing(map, name);
  if (there)
    at->value = value;
  else
    attributes->push_back({name, std::string(value)});
  return save(fs, *seat, map, *attributes, stamp);
}

}  // namespace

Status set_xattr(FileSystem& fs, const Map& map, const std::string& name, const void* value,
                 size_t size, int flags, uint64_t generation) {
  return set(fs, map, name, {static_cast<const char*>(value), size}, flags, generation,
             SetsTime::yes);
}

Status note_xattr(FileSystem& fs, const Map& map, const std::string& name, const void* value,
                  size_t size) {
  return set(fs, map, name, {static_cast<const char*>(value), size}, 0, 0, SetsTime::no);
}

Status remove_xattr(FileSystem& fs, const Map& map, const std::string& name, uint64_t generation) {
  CAIRN_TRY(fs.pool.check_writable());
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  return remove_xattr(fs, *seat, map, name, generation);
}

Status remove_xattr(FileSystem& fs, LocalSeat& seat, const Map& map, const std::string& name,
                    uint64_t generation) {
  pool::LockGuard lock(fs.pool, seat, map.inode->lock);
  CAIRN_TRY(check_generation(map, generation));
  auto attributes = load(fs, map);
  if (!attributes.ok()) return attributes.status();
  const auto at = find(*attributes, name);
  if (at == attributes->end()) return missing(map, name);
  attributes->erase(at);
  return save(fs, seat, map, *attributes, SetsTime::yes);
}

Result<std::string> get_xattr(FileSystem& fs, const Map& map, const std::string& name,
                              uint64_t generation) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  auto attributes = load(fs, map);
  persist::read_barrier();
  CAIRN_TRY(check_generation(map, generation));
  if (!attributes.ok()) return attributes.status();
  const auto at = find(*attributes, name);
  if (at == attributes->end()) return missing(map, name);
  return at->value;
}

Result<std::string> list_xattrs(FileSystem& fs, const Map& map, uint64_t generation) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  auto attributes = load(fs, map);
  persist::read_barrier();
  CAIRN_TRY(check_generation(map, generation));
  if (!attributes.ok()) return attributes.status();
  std::string names;
  for (const StoredAttribute& attribute : *attributes) {
    if (attribute.name.rfind("cairn.", 0) == 0) continue;
    names += attribute.name;
    names += '\0';
  }
  return names;
}

}  // namespace cairn::file
