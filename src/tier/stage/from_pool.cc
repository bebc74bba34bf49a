#include "tier/stage/from_pool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/coarse_clock.h"
#include "file/data/io.h"
#include "file/namespace/resolve.h"
#include "tier/lower/beneath.h"
#include "tier/lower/pool_rights.h"
#include "tier/record/attributes.h"
#include "tier/system/open_files.h"
#include "tier/system/pool_file.h"
#include "tier/system/system.h"
#include "tier/system/temp_file.h"

namespace cairn::tier {

file::Attributes attributes_now(file::FileSystem& fs, const file::Map& map) {
  pool::SeatGuard seat(fs.pool);
  return seat.ok() ? with_rights(fs, file::attributes_of(fs, map)) : file::Attributes{};
}

Status copy_contents(file::FileSystem& fs, const file::Map& map, int to, const std::string& path,
                     const std::function<bool(uint64_t bytes)>& advance) {
  PoolFile from(fs, map.number, O_RDONLY);
  CAIRN_TRY(from.status());
  const uint64_t size = map.inode->size.load();
  if (const int64_t result = sys::ftruncate(to, size); result < 0)
    return sys::failed(result, "truncate", path);
  CheckedCopy copy(to, path, advance);
  for (uint64_t at = 0; at < size;) {
    auto data = file::seek_data(*from, at);
    if (data.code() == ENXIO) break;
    if (!data.ok()) return data.status();
    auto hole = file::seek_hole(*from, *data);
    const uint64_t end = hole.ok() ? std::min(*hole, size) : size;
    // If the file is truncated meanwhile, the copy ends early, and the ctime has changed.
    CAIRN_TRY(copy.from_pool(*from, *data, end).status());
    at = std::max(end, *data + 1);
  }
  return Status();
}

namespace {

Carried carried_from(const Replaced& old, int fd) {
  sys::FileStat to = {};
  sys::FileStat from = {};
  if (old.fd < 0 || sys::fstat(fd, &to) < 0 || sys::fstat(old.fd, &from) < 0)
    return {.old = old.fd};
  const bool same_owner = from.st_uid == to.st_uid;
  return {.old = old.fd,
          .rights = same_owner || from.st_uid == geteuid(),
          .contents = same_owner && from.st_gid == to.st_gid && old.same_bytes};
}

}  // namespace

Status set_attributes(file::FileSystem& fs, const file::Map& map, const file::Attributes& wanted,
                      int fd, const Replaced& old, const std::string& path) {
  CAIRN_TRY_ASSIGN(permissions, give_owner(fd, wanted.uid, wanted.gid, wanted.mode & 07777, path));
  const Carried carried = carried_from(old, fd);
  CAIRN_TRY(export_attributes(fs, map, fd, carried));
  permissions = permissions_with(fs, map, fd, old.fd, permissions);
  return set_mode_and_times(fd, permissions, wanted.atime, wanted.mtime, path);
}

namespace {

// Sets owner, mode and times of a file that was just made. Sets nothing by name, because another
// file may have the name by now.
int64_t set_attributes_of(const FileToMake& made, const file::Attributes& wanted, uint64_t since) {
  const int64_t opened = sys::openat(made.directory, made.name.c_str(), O_PATH | O_NOFOLLOW);
  if (opened < 0) return opened;
  const sys::Descriptor fd(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(fd.get(), &st); result < 0) return result;
  const bool tells_birth = st.birth != 0 && (st.birth & sys::birth_is_handle) == 0;
  const bool is_new = st.st_uid == geteuid() && (!tells_birth || st.birth >= since);
  if ((st.st_mode & S_IFMT) != (wanted.mode & S_IFMT) || st.st_nlink != 1 || !is_new)
    return -EEXIST;
  const auto permissions =
      give_owner(fd.get(), wanted.uid, wanted.gid, wanted.mode & 07777, made.path);
  int64_t result = 0;
  if (!S_ISLNK(wanted.mode)) give_list(fd.get(), made.list, false);
  if (!S_ISLNK(wanted.mode)) {  // a symbolic link has no mode
    if (!permissions.ok()) return -permissions.code();
    // The umask of the process has cleared some bits.
    result = sys::chmodat(AT_FDCWD, path_of_open(fd.get()).c_str(), *permissions);
  }
  set_times_of_open(fd.get(), wanted.atime, wanted.mtime);
  return result;
}

}  // namespace

Status make_special(file::FileSystem& fs, const file::Map& map, const file::Attributes& wanted,
                    const FileToMake& made) {
  constexpr uint64_t tick = 10'000'000;  // ns: the longest tick of the clock of file systems
  const uint64_t since = coarse_now_ns() - tick;
  int64_t result = 0;
  if (S_ISLNK(wanted.mode)) {
    std::string target;
    {
      pool::SeatGuard seat(fs.pool);
      if (!seat.ok()) return pool::no_seat(fs.pool);
      auto text = file::link_text(fs, map);
      if (!text.ok()) return text.status();
      target = std::move(*text);
    }
    result = sys::symlinkat(target.c_str(), made.directory, made.name.c_str());
  } else if ((S_ISCHR(wanted.mode) || S_ISBLK(wanted.mode)) && !pool_gives_rights(fs)) {
    return fail(EPERM,
                "%s: a device, which a pool on a file system that is mounted nosuid or nodev does "
                "not make; remove it from the pool",
                made.path.c_str());
  } else {
    result = sys::mknodat(made.directory, made.name.c_str(), wanted.mode, wanted.rdev);
  }
  if (result == 0) result = set_attributes_of(made, wanted, since);
  return result < 0 ? sys::failed(result, "cannot be created beside it", made.path) : Status();
}

bool is_same_special(file::FileSystem& fs, int directory, const char* name, const file::Map& map,
                     const sys::FileStat& st) {
  if (!S_ISLNK(map.inode->mode.load())) {
    // A special file can differ in owner and mode only.
    const file::Attributes wanted = attributes_now(fs, map);
    return (st.st_mode & 07777) == (wanted.mode & 07777) &&
           (wanted.uid == keeps_owner || (st.st_uid == wanted.uid && st.st_gid == wanted.gid));
  }
  std::string there;
  if (sys::read_link(directory, name, &there) < 0) return false;
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return false;
  auto text = file::link_text(fs, map);
  return text.ok() && *text == there;
}

}  // namespace cairn::tier
