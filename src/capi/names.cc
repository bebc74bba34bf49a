// C API: names and attributes.
#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "capi/handles.h"
#include "file/attributes.h"
#include "file/cut.h"
#include "file/names.h"
#include "file/xattr.h"
#include "pool/seats.h"

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
  st->flags = (a.flags & format::flag_lazy) != 0 ? CAIRN_FILE_LAZY : 0;
}

namespace {

Status stat_number(file::FileSystem& fs, uint64_t number, cairn_stat* st) {
  auto inode = file::live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  fill_stat(fs, {*inode, number}, st);
  return Status();
}

// The directory and name that a call which makes or removes a name works on.
Status resolve_name(file::FileSystem& fs, uint64_t dir, const char* path, bool may_exist,
                    file::Resolved* at) {
  file::ResolveOptions options;
  options.follow_last = false;
  options.may_be_missing = true;
  Status status = file::resolve(fs, dir, path, options, at);
  if (status.code() == ENOENT && at->parent != 0) return Status();
  if (!status.ok()) return status;
  if (!may_exist) return fail(EEXIST, "%s: file exists", path);
  return Status();
}

Result<file::Map> map_of(file::FileSystem& fs, uint64_t number) {
  auto inode = file::live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  return file::Map{*inode, number};
}

uint64_t time_of(int64_t ns) {
  if (ns == CAIRN_TIME_NOW) return file::time_now;
  if (ns == CAIRN_TIME_OMIT) return file::time_omit;
  return static_cast<uint64_t>(ns);
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

int cairn_lookup(cairn_pool* pool, cairn_ino dir, const char* path, unsigned flags, cairn_stat* st) {
  file::Resolved at;
  file::ResolveOptions options;
  options.follow_last = (flags & CAIRN_NOFOLLOW) == 0;
  if (Status status = file::resolve(fs_of(pool), dir, path, options, &at); !status.ok())
    return code(status);
  return code(stat_number(fs_of(pool), at.inode, st));
}

int cairn_walk(cairn_pool* pool, cairn_ino top, cairn_ino dir, const char* path, unsigned flags,
               cairn_stat* st, cairn_ino* parent, cairn_ino* at, char* rest, size_t capacity) {
  file::Resolved resolved;
  file::ResolveOptions options;
  options.top = top;
  options.follow_last = (flags & CAIRN_NOFOLLOW) == 0;
  options.stop_outside = true;
  std::string text;
  Status status = file::resolve(fs_of(pool), dir, path, options, &resolved, &text);
  *parent = resolved.parent;
  if (status.code() == EXDEV) *at = resolved.inode;
  else text = resolved.name;
  if (text.size() + 1 > capacity) return code(fail(ENAMETOOLONG, "%s: no room for its rest", path));
  std::memcpy(rest, text.c_str(), text.size() + 1);
  if (status.ok() && st != nullptr) status = stat_number(fs_of(pool), resolved.inode, st);
  return code(status);
}

int cairn_stat_ino(cairn_pool* pool, cairn_ino ino, cairn_stat* st) {
  return code(stat_number(fs_of(pool), ino, st));
}

int cairn_path_of(cairn_pool* pool, cairn_ino top, cairn_ino dir, char* path, size_t capacity) {
  auto text = file::path_of(fs_of(pool), top, dir);
  if (!text.ok()) return -text.code();
  if (text->size() + 1 > capacity) return code(fail(ERANGE, "a path of %zu bytes", text->size()));
  std::memcpy(path, text->c_str(), text->size() + 1);
  return static_cast<int>(text->size());
}

int cairn_mkdir(cairn_pool* pool, cairn_ino dir, const char* path, uint32_t mode) {
  file::Resolved at;
  if (Status s = resolve_name(fs_of(pool), dir, path, false, &at); !s.ok()) return code(s);
  file::CreateRequest request;
  request.mode = S_IFDIR | (mode & 07777);
  return -file::create_name(fs_of(pool), at.parent, at.name, request).code();
}

int cairn_mknod(cairn_pool* pool, cairn_ino dir, const char* path, uint32_t mode) {
  const uint32_t type = (mode & S_IFMT) == 0 ? S_IFREG : mode & S_IFMT;
  if (type == S_IFCHR || type == S_IFBLK)
    return code(fail(EPERM, "%s: a pool holds no device nodes", path));
  if (type != S_IFREG && type != S_IFIFO && type != S_IFSOCK)
    return code(fail(EINVAL, "%s: mode %o", path, mode));
  file::Resolved at;
  if (Status s = resolve_name(fs_of(pool), dir, path, false, &at); !s.ok()) return code(s);
  file::CreateRequest request;
  request.mode = type | (mode & 07777);
  return -file::create_name(fs_of(pool), at.parent, at.name, request).code();
}

int cairn_unlink(cairn_pool* pool, cairn_ino dir, const char* path) {
  file::Resolved at;
  if (Status s = resolve_name(fs_of(pool), dir, path, true, &at); !s.ok()) return code(s);
  if (at.name == ".") return code(fail(EISDIR, "%s: is a directory", path));
  if (at.must_be_directory && at.inode != 0)
    return code(fail(ENOTDIR, "%s: not a directory", path));
  return code(file::unlink_name(fs_of(pool), at.parent, at.name));
}

int cairn_rmdir(cairn_pool* pool, cairn_ino dir, const char* path) {
  file::Resolved at;
  if (Status s = resolve_name(fs_of(pool), dir, path, true, &at); !s.ok()) return code(s);
  // "." says EINVAL, ".." ENOTEMPTY, as rmdir(2).
  if (at.name == ".") {
    const size_t n = strlen(path);
    const bool dotdot = n >= 2 && strcmp(path + n - 2, "..") == 0;
    return code(fail(dotdot ? ENOTEMPTY : EINVAL, "%s: cannot be removed", path));
  }
  return code(file::remove_directory(fs_of(pool), at.parent, at.name));
}

int cairn_rename(cairn_pool* pool, cairn_ino from_dir, const char* from, cairn_ino to_dir,
                 const char* to, unsigned flags) {
  file::Resolved a;
  file::Resolved b;
  if (Status s = resolve_name(fs_of(pool), from_dir, from, true, &a); !s.ok()) return code(s);
  if (a.inode == 0) return code(fail(ENOENT, "%s: no such file or directory", from));
  if (Status s = resolve_name(fs_of(pool), to_dir, to, true, &b); !s.ok()) return code(s);
  return code(file::rename(fs_of(pool), {a.parent, a.name, a.must_be_directory},
                           {b.parent, b.name, b.must_be_directory}, flags));
}

int cairn_link(cairn_pool* pool, cairn_ino from_dir, const char* from, cairn_ino to_dir,
               const char* to, unsigned flags) {
  file::Resolved a;
  file::Resolved b;
  file::ResolveOptions options;
  options.follow_last = (flags & CAIRN_NOFOLLOW) == 0;
  if (Status s = file::resolve(fs_of(pool), from_dir, from, options, &a); !s.ok()) return code(s);
  if (Status s = resolve_name(fs_of(pool), to_dir, to, false, &b); !s.ok()) return code(s);
  return code(file::link_inode(fs_of(pool), a.inode, b.parent, b.name));
}

int cairn_link_ino(cairn_pool* pool, cairn_ino ino, cairn_ino dir, const char* path) {
  file::Resolved b;
  if (Status s = resolve_name(fs_of(pool), dir, path, false, &b); !s.ok()) return code(s);
  return code(file::link_inode(fs_of(pool), ino, b.parent, b.name));
}

int cairn_symlink(cairn_pool* pool, const char* target, cairn_ino dir, const char* path) {
  file::Resolved at;
  if (target[0] == '\0') return code(fail(ENOENT, "%s: an empty target", path));
  if (strnlen(target, file::longest_path + 1) > file::longest_path)
    return code(fail(ENAMETOOLONG, "%s: a target of more than %zu bytes", path, file::longest_path));
  if (Status s = resolve_name(fs_of(pool), dir, path, false, &at); !s.ok()) return code(s);
  const std::string text = target;
  file::CreateRequest request;
  request.mode = S_IFLNK | 0777;
  request.target = &text;
  return -file::create_name(fs_of(pool), at.parent, at.name, request).code();
}

ssize_t cairn_readlink(cairn_pool* pool, cairn_ino dir, const char* path, char* buffer,
                       size_t capacity) {
  auto& fs = fs_of(pool);
  file::Resolved at;
  file::ResolveOptions options;
  options.follow_last = false;
  uint64_t number = dir;
  if (path[0] != '\0') {
    if (Status s = file::resolve(fs, dir, path, options, &at); !s.ok()) return code(s);
    number = at.inode;
  }
  auto map = map_of(fs, number);
  if (!map.ok()) return -map.code();
  if (!S_ISLNK(map->inode->mode.load())) return code(fail(EINVAL, "%s: not a symbolic link", path));
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  auto text = file::link_text(fs, *map);
  if (!text.ok()) return -text.code();
  return static_cast<ssize_t>(copy_text(*text, buffer, capacity));
}

int cairn_chmod(cairn_pool* pool, cairn_ino ino, uint32_t mode) {
  auto& fs = fs_of(pool);
  auto map = map_of(fs, ino);
  if (!map.ok()) return -map.code();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  return code(file::set_mode(fs, *seat, *map, mode));
}

int cairn_chown(cairn_pool* pool, cairn_ino ino, uint32_t uid, uint32_t gid) {
  auto& fs = fs_of(pool);
  auto map = map_of(fs, ino);
  if (!map.ok()) return -map.code();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  return code(file::set_owner(fs, *seat, *map, uid, gid));
}

int cairn_utimens(cairn_pool* pool, cairn_ino ino, int64_t atime_ns, int64_t mtime_ns) {
  auto& fs = fs_of(pool);
  auto map = map_of(fs, ino);
  if (!map.ok()) return -map.code();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  return code(file::set_times(fs, *seat, *map, time_of(atime_ns), time_of(mtime_ns)));
}

int cairn_truncate(cairn_pool* pool, cairn_ino ino, uint64_t size) {
  auto map = map_of(fs_of(pool), ino);
  if (!map.ok()) return -map.code();
  if (S_ISDIR(map->inode->mode.load())) return code(fail(EISDIR, "inode %llu: is a directory", static_cast<unsigned long long>(ino)));
  if (!S_ISREG(map->inode->mode.load())) return code(fail(EINVAL, "inode %llu: not a regular file", static_cast<unsigned long long>(ino)));
  return code(file::truncate(fs_of(pool), *map, size));
}

int cairn_setxattr(cairn_pool* pool, cairn_ino ino, const char* name, const void* value, size_t size,
                   int flags) {
  auto map = map_of(fs_of(pool), ino);
  if (!map.ok()) return -map.code();
  return code(file::set_xattr(fs_of(pool), *map, name, value, size, flags));
}

ssize_t cairn_getxattr(cairn_pool* pool, cairn_ino ino, const char* name, void* value,
                       size_t capacity) {
  auto map = map_of(fs_of(pool), ino);
  if (!map.ok()) return -map.code();
  auto text = file::get_xattr(fs_of(pool), *map, name);
  if (!text.ok()) return -text.code();
  if (capacity == 0) return static_cast<ssize_t>(text->size());
  if (text->size() > capacity) return code(fail(ERANGE, "attribute %s has %zu bytes", name, text->size()));
  std::memcpy(value, text->data(), text->size());
  return static_cast<ssize_t>(text->size());
}

ssize_t cairn_listxattr(cairn_pool* pool, cairn_ino ino, char* list, size_t capacity) {
  auto map = map_of(fs_of(pool), ino);
  if (!map.ok()) return -map.code();
  auto names = file::list_xattrs(fs_of(pool), *map);
  if (!names.ok()) return -names.code();
  if (capacity == 0) return static_cast<ssize_t>(names->size());
  if (names->size() > capacity) return code(fail(ERANGE, "%zu bytes of names", names->size()));
  std::memcpy(list, names->data(), names->size());
  return static_cast<ssize_t>(names->size());
}

int cairn_removexattr(cairn_pool* pool, cairn_ino ino, const char* name) {
  auto map = map_of(fs_of(pool), ino);
  if (!map.ok()) return -map.code();
  return code(file::remove_xattr(fs_of(pool), *map, name));
}

int cairn_readdir(cairn_pool* pool, cairn_ino dir, uint64_t cookie, cairn_dirent* entries,
                  size_t capacity) {
  auto& fs = fs_of(pool);
  auto map = file::enter_directory(fs, dir);
  if (!map.ok()) return -map.code();
  size_t n = 0;
  // "." and ".." have the cookies 1 and 2 behind them, the names' follow.
  constexpr uint64_t dots = 2;
  for (; cookie < dots && n < capacity; ++cookie) {
    cairn_dirent& entry = entries[n++];
    entry.ino = cookie == 0 ? dir : map->inode->directory.parent.load();
    entry.cookie = cookie + 1;
    entry.type = DT_DIR;
    entry.length = static_cast<uint32_t>(cookie + 1);
    std::memcpy(entry.name, "..", 3);
    entry.name[entry.length] = '\0';
  }
  if (n == capacity) return static_cast<int>(n);
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  std::vector<file::Listed> listed(std::min<size_t>(capacity - n, 64));
  while (n < capacity) {
    auto got = file::list_names(fs, *seat, *map, cookie - dots, listed.data(),
                                std::min(listed.size(), capacity - n));
    if (!got.ok()) return -got.code();
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
