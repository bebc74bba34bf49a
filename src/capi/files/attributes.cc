// C API: attributes by inode number, extended ones too.
#include "file/inode/attributes.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <cstring>

#include "capi/core/handles.h"
#include "file/data/access.h"
#include "file/data/truncate.h"
#include "file/inode/xattr.h"
#include "file/space/make_room.h"
#include "pool/lanes/seats.h"
#include "tier/record/drain_mode.h"
#include "tier/record/mode_of_lower.h"

namespace cairn::capi {

void fill_stat(file::FileSystem& fs, const file::Map& map, cairn_stat* st) {
  const file::Attributes a = file::attributes_of(fs, map);
  std::memset(st, 0, sizeof *st);
  st->ino = a.number;
  st->generation = a.generation;
  st->mode = a.mode;
  st->uid = a.uid;
  st->gid = a.gid;
  st->nlink = a.links;
  st->size = a.size;
  st->blocks = a.blocks * (format::block_size / 512);
  st->atime_ns = static_cast<int64_t>(a.atime);
  st->mtime_ns = static_cast<int64_t>(a.mtime);
  st->ctime_ns = static_cast<int64_t>(a.ctime);
  st->btime_ns = static_cast<int64_t>(a.btime);
  st->rdev = a.rdev;
  if ((a.flags & format::flag_lazy) == 0) return;
  st->flags = CAIRN_FILE_LAZY | ((a.flags & format::flag_evicted) != 0 ? CAIRN_FILE_EVICTED : 0);
}

namespace {

// The values that are no times are the same below.
static_assert(file::time_now == static_cast<uint64_t>(CAIRN_TIME_NOW));
static_assert(file::time_omit == static_cast<uint64_t>(CAIRN_TIME_OMIT));
static_assert(file::time_omit == file::Remote::Change::same_time);
uint64_t time_of(int64_t ns) { return static_cast<uint64_t>(ns); }

// Calls change(seat, map) for a live inode.
template <typename Call>
int change_inode(cairn_pool* pool, cairn_ino ino, Call change) {
  auto& fs = fs_of(pool);
  auto map = live_map(fs, ino);
  if (!map.ok()) return -map.code();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  return code(change(*seat, *map));
}

// The bytes, or only their number if there is no room asked for: as the system's calls for extended
// attributes give them.
ssize_t give(const Result<std::string>& text, void* buffer, size_t capacity, const char* what) {
  if (!text.ok()) return -text.code();
  if (capacity == 0) return static_cast<ssize_t>(text->size());
  if (text->size() > capacity)
    return code(fail(ERANGE, "%s: %zu bytes, room for %zu", what, text->size(), capacity));
  if (Status s = check_given(buffer, "the buffer for attributes"); !s.ok()) return code(s);
  std::memcpy(buffer, text->data(), text->size());
  return static_cast<ssize_t>(text->size());
}

// The same for a change, which a pool that is only looked at refuses. A file that is written on
// another node changes there.
template <typename Change>
int make_change(cairn_pool* pool, cairn_ino ino, uint64_t generation,
                const file::Remote::Change& there, Change change) {
  auto& fs = fs_of(pool);
  if (const Status status = fs.pool.check_writable(); !status.ok()) return code(status);
  if (auto map = live_map(fs, ino); map.ok()) {
    if (const auto remote = file::remote_of(fs, *map)) {
      const Status status = file::check_generation(*map, generation);
      return code(status.ok() ? remote->change(there) : status);
    }
  }
  return change_inode(pool, ino, change);
}

// A directory shows what the covered one holds when it is first entered. Once its owner or mode
// changes here, what others add there is not meant any more: its names are imported before. Where
// this user may not list it, none can be.
Status import_names_first(file::FileSystem& fs, cairn_ino ino) {
  const auto map = live_map(fs, ino);
  if (!map.ok() || !S_ISDIR(map->inode->mode.load()) || !file::is_lazy(*map->inode) ||
      fs.lower == nullptr)
    return Status();
  Status filled = fs.lower->fill_directory(map->number);
  return filled.code() == EACCES || filled.code() == EPERM ? Status() : filled;
}

// The API's value that leaves an owner as it is, as a node is told.
uint64_t id_there(uint32_t id) { return id == UINT32_MAX ? file::Remote::Change::same : id; }

}  // namespace

Result<file::Map> live_map(file::FileSystem& fs, uint64_t found) {
  const uint64_t number = file::number_of(found);
  auto inode = file::live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  const file::Map map{*inode, number};
  return file::is_what_was_found(map, found) ? Result<file::Map>(map) : file::no_inode(number);
}

}  // namespace cairn::capi

using namespace cairn;        // NOLINT(google-build-using-namespace): the functions below are C
using namespace cairn::capi;  // NOLINT(google-build-using-namespace)

extern "C" {

int cairn_stat_ino(cairn_pool* pool, cairn_ino ino, cairn_stat* st) {
  const WriteWindow window;
  return change_inode(pool, ino, [&](file::LocalSeat&, const file::Map& map) {
    fill_stat(fs_of(pool), map, st);
    return Status();
  });
}

int cairn_chmod(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint32_t mode) {
  const WriteWindow window;
  file::Remote::Change there;
  there.mode = mode & 07777;
  if (const Status s = import_names_first(fs_of(pool), ino); !s.ok()) return code(s);
  return make_change(pool, ino, generation, there,
                     [&](file::LocalSeat& seat, const file::Map& map) {
                       return file::set_mode(fs_of(pool), seat, map, mode, generation);
                     });
}

int cairn_chown(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint32_t uid, uint32_t gid) {
  const WriteWindow window;
  file::Remote::Change there;
  there.uid = id_there(uid);
  there.gid = id_there(gid);
  if (const Status s = import_names_first(fs_of(pool), ino); !s.ok()) return code(s);
  return make_change(pool, ino, generation, there,
                     [&](file::LocalSeat& seat, const file::Map& map) {
                       return file::set_owner(fs_of(pool), seat, map, uid, gid, generation);
                     });
}

int cairn_utimens(cairn_pool* pool, cairn_ino ino, uint64_t generation, int64_t atime_ns,
                  int64_t mtime_ns) {
  const WriteWindow window;
  file::Remote::Change there;
  there.atime = time_of(atime_ns);
  there.mtime = time_of(mtime_ns);
  return make_change(pool, ino, generation, there,
                     [&](file::LocalSeat& seat, const file::Map& map) {
                       return file::set_times(fs_of(pool), seat, map, time_of(atime_ns),
                                              time_of(mtime_ns), generation);
                     });
}

int cairn_truncate(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint64_t size) {
  const WriteWindow window;
  auto map = live_map(fs_of(pool), ino);
  if (!map.ok()) return -map.code();
  if (const Status status = fs_of(pool).pool.check_writable(); !status.ok()) return code(status);
  const uint64_t mode = map->inode->mode.load();
  const auto number = static_cast<unsigned long long>(ino);
  if (S_ISDIR(mode)) return code(fail(EISDIR, "inode %llu: is a directory", number));
  if (!S_ISREG(mode)) return code(fail(EINVAL, "inode %llu: not a regular file", number));
  return code(file::truncate(fs_of(pool), *map, size, generation));
}

int cairn_setxattr(cairn_pool* pool, cairn_ino ino, uint64_t generation, const char* name,
                   const void* value, size_t size, int flags) {
  const WriteWindow window;
  constexpr int known = XATTR_CREATE | XATTR_REPLACE;
  if (Status s = check_flags(static_cast<unsigned>(flags), known, "cairn_setxattr"); !s.ok())
    return code(s);
  if (Status s = check_given(name, "the attribute's name"); !s.ok()) return code(s);
  if (Status s = size == 0 ? Status() : check_given(value, name); !s.ok()) return code(s);
  if (std::strcmp(name, tier::drain_mode_attribute) == 0) {
    const auto mode = tier::drain_mode_of({static_cast<const char*>(value), size});
    if (!mode.ok()) return code(mode.status());
  }
  auto map = live_map(fs_of(pool), ino);
  if (!map.ok()) return -map.code();
  const Status status = file::with_room(fs_of(pool), [&] {
    return file::set_xattr(fs_of(pool), *map, name, value, size, flags, generation);
  });
  if (status.ok() && std::strcmp(name, tier::drain_mode_attribute) == 0)
    tier::forget_mode_of_lower(fs_of(pool), *map);
  return code(status);
}

ssize_t cairn_getxattr(cairn_pool* pool, cairn_ino ino, uint64_t generation, const char* name,
                       void* value, size_t capacity) {
  const WriteWindow window;
  if (Status s = check_given(name, "the attribute's name"); !s.ok()) return code(s);
  auto map = live_map(fs_of(pool), ino);
  if (!map.ok()) return -map.code();
  return give(file::get_xattr(fs_of(pool), *map, name, generation), value, capacity, name);
}

ssize_t cairn_listxattr(cairn_pool* pool, cairn_ino ino, uint64_t generation, char* list,
                        size_t capacity) {
  const WriteWindow window;
  auto map = live_map(fs_of(pool), ino);
  if (!map.ok()) return -map.code();
  return give(file::list_xattrs(fs_of(pool), *map, generation), list, capacity,
              "names of attributes");
}

int cairn_removexattr(cairn_pool* pool, cairn_ino ino, uint64_t generation, const char* name) {
  const WriteWindow window;
  if (Status s = check_given(name, "the attribute's name"); !s.ok()) return code(s);
  auto map = live_map(fs_of(pool), ino);
  if (!map.ok()) return -map.code();
  return code(file::remove_xattr(fs_of(pool), *map, name, generation));
}

}  // extern "C"
