// C API: names.
#include "file/namespace/names.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "capi/core/handles.h"
#include "file/space/make_room.h"
#include "pool/lanes/seats.h"

namespace cairn::capi {
namespace {

// Calls act(at) on what find(&at) finds by its name; again, if that was replaced in between: ESTALE
// of act. The inode of an empty file that is removed may be another file's at once.
template <typename Find, typename Act>
Status act_on(const char* path, Find find, Act act) {
  for (int attempt = 0; attempt < file::most_looks; ++attempt) {
    file::Resolved at;
    CAIRN_TRY(find(&at));
    const Status status = act(at);
    if (status.code() != ESTALE) return status;
  }
  return fail(ENOENT, "%s: other processes keep replacing it; retry", path);
}

// Calls look(map) for what was found. ESTALE: it was not that any more.
template <typename Look>
Status look_at(file::FileSystem& fs, file::Resolved& at, Look look) {
  file::Inode* inode = file::inode_at(fs, at.inode);
  if (inode == nullptr) return Status(ESTALE);
  if (!at.seat.has_value()) at.seat.emplace(fs.pool);
  if (!at.seat->ok()) return pool::no_seat(fs.pool);
  const file::Map map{inode, at.inode};
  const Status status = look(map);
  persist::read_barrier();
  return file::is_still(map, at.generation) ? status : Status(ESTALE);
}

Status stat_found(file::FileSystem& fs, file::Resolved& at, cairn_stat* st) {
  return look_at(fs, at, [&](const file::Map& map) {
    fill_stat(fs, map, st);
    return Status();
  });
}

// The directory and name that a call which makes or removes a name works on. Whether the name is
// there is seen with the directory locked, unless the path ends in a slash or dots: then `inode`
// says it.
Status resolve_name(file::FileSystem& fs, uint64_t dir, const char* path, file::Resolved* at) {
  file::ResolveOptions options;
  options.follow_last = false;
  options.find_last = false;
  options.may_be_missing = true;
  const Status status = file::resolve(fs, dir, path, options, at);
  at->seat.reset();
  return status.code() == ENOENT && at->parent != 0 ? Status() : status;
}

Status resolve_new_name(file::FileSystem& fs, uint64_t dir, const char* path, file::Resolved* at) {
  CAIRN_TRY(resolve_name(fs, dir, path, at));
  return at->inode == 0 ? Status() : fail(EEXIST, "%s: file exists", path);
}

// Below, messages know the last name only.
int code_at(Status status, const char* path) {
  const bool known = status.ok() || strchr(path, '/') == nullptr;
  return code(known ? status : annotate(status, "%s", path));
}

int make_name(cairn_pool* pool, cairn_ino dir, const char* path,
              const file::CreateRequest& request) {
  file::Resolved at;
  if (Status s = resolve_new_name(fs_of(pool), dir, path, &at); !s.ok()) return code(s);
  auto made = file::with_room(
      fs_of(pool), [&] { return file::create_name(fs_of(pool), at.parent, at.name, request); });
  return code_at(made.status(), path);
}

// `generation` as in link_inode.
int link_found(cairn_pool* pool, cairn_ino ino, uint64_t generation, cairn_ino dir,
               const char* path) {
  auto& fs = fs_of(pool);
  file::Resolved at;
  if (Status s = resolve_new_name(fs, dir, path, &at); !s.ok()) return code(s);
  const Status status = file::with_room(
      fs, [&] { return file::link_inode(fs, ino, at.parent, at.name, generation); });
  return code_at(status, path);
}

size_t copy_text(const std::string& text, char* buffer, size_t capacity) {
  const size_t n = std::min(text.size(), capacity);
  std::memcpy(buffer, text.data(), n);
  return n;
}

}  // namespace
}  // namespace cairn::capi

using namespace cairn;        // NOLINT(google-build-using-namespace): the functions below are C
using namespace cairn::capi;  // NOLINT(google-build-using-namespace)

extern "C" {

int cairn_lookup(cairn_pool* pool, cairn_ino dir, const char* path, unsigned flags,
                 cairn_stat* st) {
  const WriteWindow window;
  if (Status s = check_flags(flags, CAIRN_NOFOLLOW, "cairn_lookup"); !s.ok()) return code(s);
  auto& fs = fs_of(pool);
  file::ResolveOptions options;
  options.follow_last = (flags & CAIRN_NOFOLLOW) == 0;
  return code(act_on(
      path, [&](file::Resolved* at) { return file::resolve(fs, dir, path, options, at); },
      [&](file::Resolved& at) { return stat_found(fs, at, st); }));
}

int cairn_walk(cairn_pool* pool, cairn_ino top, cairn_ino dir, const char* path, unsigned flags,
               cairn_search search, cairn_stat* st, cairn_ino* parent, cairn_ino* at, char* rest,
               size_t capacity) {
  const WriteWindow window;
  if (Status s = check_flags(flags, CAIRN_NOFOLLOW, "cairn_walk"); !s.ok()) return code(s);
  auto& fs = fs_of(pool);
  file::ResolveOptions options;
  options.top = top;
  options.follow_last = (flags & CAIRN_NOFOLLOW) == 0;
  options.stop_outside = true;
  options.search = search;
  const auto find = [&](file::Resolved* resolved) {
    std::string outside;
    const Status status = file::resolve(fs, dir, path, options, resolved, &outside);
    *parent = resolved->parent;
    std::string_view text = resolved->name;
    if (status.code() == EXDEV) {
      *at = resolved->inode;
      text = outside;
    }
    if (text.size() + 2 > capacity)
      return fail(ENAMETOOLONG, "%s: the buffer is too small for the rest of the path", path);
    std::memcpy(rest, text.data(), text.size());
    size_t length = text.size();
    // The path, or a link in it, asks for a directory, which is missing.
    if (status.code() == ENOENT && resolved->must_be_directory && resolved->parent != 0)
      rest[length++] = '/';
    rest[length] = '\0';
    return status;
  };
  return code(act_on(path, find, [&](file::Resolved& resolved) {
    return st == nullptr ? Status() : stat_found(fs, resolved, st);
  }));
}

int cairn_path_of(cairn_pool* pool, cairn_ino top, cairn_ino dir, char* path, size_t capacity) {
  const WriteWindow window;
  auto text = file::path_of(fs_of(pool), top, dir);
  if (!text.ok()) return -text.code();
  if (text->size() + 1 > capacity)
    return code(fail(ERANGE, "the buffer is too small for a path of %zu bytes", text->size()));
  std::memcpy(path, text->c_str(), text->size() + 1);
  return static_cast<int>(text->size());
}

int cairn_mkdir(cairn_pool* pool, cairn_ino dir, const char* path, uint32_t mode) {
  const WriteWindow window;
  return make_name(pool, dir, path, {S_IFDIR | (mode & 07777)});
}

int cairn_mknod(cairn_pool* pool, cairn_ino dir, const char* path, uint32_t mode) {
  const WriteWindow window;
  const uint32_t type = (mode & S_IFMT) == 0 ? S_IFREG : mode & S_IFMT;
  if (type == S_IFCHR || type == S_IFBLK)
    return code(fail(EPERM, "%s: a pool holds no device nodes", path));
  if (type != S_IFREG && type != S_IFIFO && type != S_IFSOCK)
    return code(fail(EINVAL, "%s: invalid mode %o", path, mode));
  return make_name(pool, dir, path, {type | (mode & 07777)});
}

int cairn_symlink(cairn_pool* pool, const char* target, cairn_ino dir, const char* path) {
  const WriteWindow window;
  if (target[0] == '\0') return code(fail(ENOENT, "%s: the link target is empty", path));
  const std::string_view text(target, strnlen(target, file::longest_path + 1));
  if (text.size() > file::longest_path)
    return code(fail(ENAMETOOLONG, "%s: the link target has more than %zu bytes", path,
                     file::longest_path));
  return make_name(pool, dir, path, {S_IFLNK | 0777, 0, &text});
}

int cairn_unlink(cairn_pool* pool, cairn_ino dir, const char* path) {
  const WriteWindow window;
  file::Resolved at;
  if (Status s = resolve_name(fs_of(pool), dir, path, &at); !s.ok()) return code(s);
  if (at.name == ".") return code(fail(EISDIR, "%s: is a directory", path));
  if (at.must_be_directory && at.inode != 0)
    return code(fail(ENOTDIR, "%s: not a directory", path));
  return code_at(file::unlink_name(fs_of(pool), at.parent, at.name), path);
}

int cairn_rmdir(cairn_pool* pool, cairn_ino dir, const char* path) {
  const WriteWindow window;
  file::Resolved at;
  if (Status s = resolve_name(fs_of(pool), dir, path, &at); !s.ok()) return code(s);
  // "." says EINVAL, ".." ENOTEMPTY, as rmdir(2).
  if (at.name == ".") {
    const size_t n = strlen(path);
    const bool dotdot = n >= 2 && strcmp(path + n - 2, "..") == 0;
    return code(fail(dotdot ? ENOTEMPTY : EINVAL, "%s: cannot be removed", path));
  }
  return code_at(file::remove_directory(fs_of(pool), at.parent, at.name), path);
}

int cairn_rename(cairn_pool* pool, cairn_ino from_dir, const char* from, cairn_ino to_dir,
                 const char* to, unsigned flags) {
  const WriteWindow window;
  file::Resolved a;
  file::Resolved b;
  if (Status s = resolve_name(fs_of(pool), from_dir, from, &a); !s.ok()) return code(s);
  if (Status s = resolve_name(fs_of(pool), to_dir, to, &b); !s.ok()) return code(s);
  return code(file::with_room(fs_of(pool), [&] {
    return file::rename(fs_of(pool), {a.parent, a.name, a.must_be_directory},
                        {b.parent, b.name, b.must_be_directory}, flags);
  }));
}

int cairn_link(cairn_pool* pool, cairn_ino from_dir, const char* from, cairn_ino to_dir,
               const char* to, unsigned flags) {
  const WriteWindow window;
  if (Status s = check_flags(flags, CAIRN_NOFOLLOW, "cairn_link"); !s.ok()) return code(s);
  uint64_t number = 0;
  uint64_t generation = 0;
  {
    file::Resolved at;
    file::ResolveOptions options;
    options.follow_last = (flags & CAIRN_NOFOLLOW) == 0;
    if (Status s = file::resolve(fs_of(pool), from_dir, from, options, &at); !s.ok())
      return code(s);
    number = at.inode;
    generation = at.generation;
  }
  return link_found(pool, number, generation, to_dir, to);
}

int cairn_link_ino(cairn_pool* pool, cairn_ino ino, cairn_ino dir, const char* path) {
  const WriteWindow window;
  return link_found(pool, ino, 0, dir, path);
}

ssize_t cairn_readlink(cairn_pool* pool, cairn_ino dir, const char* path, char* buffer,
                       size_t capacity) {
  const WriteWindow window;
  auto& fs = fs_of(pool);
  const auto find = [&](file::Resolved* at) {
    file::ResolveOptions options;
    options.follow_last = false;
    if (path[0] != '\0') return file::resolve(fs, dir, path, options, at);
    at->inode = dir;
    return live_map(fs, dir).status();
  };
  size_t length = 0;
  const auto read = [&](const file::Map& map) {
    if (!S_ISLNK(map.inode->mode.load())) return fail(EINVAL, "%s: not a symbolic link", path);
    auto text = file::link_text(fs, map);
    if (text.ok()) length = copy_text(*text, buffer, capacity);
    return text.status();
  };
  const Status status =
      act_on(path, find, [&](file::Resolved& at) { return look_at(fs, at, read); });
  return status.ok() ? static_cast<ssize_t>(length) : code(status);
}

int cairn_readdir(cairn_pool* pool, cairn_ino dir, uint64_t cookie, cairn_dirent* entries,
                  size_t capacity) {
  const WriteWindow window;
  auto& fs = fs_of(pool);
  auto map = file::enter_directory(fs, dir);
  if (!map.ok()) return -map.code();
  size_t n = 0;
  // "." and ".." have the cookies 1 and 2 behind them, the names' follow.
  constexpr uint64_t dots = 2;
  for (; cookie < dots && n < capacity; ++cookie) {
    cairn_dirent& entry = entries[n++];
    entry.ino = cookie == 0 ? map->number : map->inode->directory.parent.load();
    entry.cookie = cookie + 1;
    entry.type = DT_DIR;
    entry.length = static_cast<uint32_t>(cookie + 1);
    std::memcpy(entry.name, "..", 3);
    entry.name[entry.length] = '\0';
  }
  if (n == capacity) return static_cast<int>(n);
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  std::vector<file::Listed> listed = file::listing_room(*map, std::min<size_t>(capacity - n, 64));
  while (n < capacity) {
    auto got = file::list_names(fs, *seat, *map, cookie - dots, listed.data(),
                                std::min(listed.size(), capacity - n));
    // The caller gets the names found so far; the next call fails.
    if (!got.ok()) return n != 0 ? static_cast<int>(n) : -got.code();
    if (*got == 0) break;
    for (size_t i = 0; i < *got; ++i) {
      cairn_dirent& entry = entries[n++];
      entry.ino = listed[i].inode;
      entry.cookie = listed[i].cookie + dots;
      entry.type = listed[i].type;
      entry.length = listed[i].length;
      std::memcpy(entry.name, listed[i].name, listed[i].length + 1);
      cookie = entry.cookie;
    }
  }
  return static_cast<int>(n);
}

}  // extern "C"
