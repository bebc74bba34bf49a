#include "pool/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "media/devdax.h"
#include "pool/device.h"
#include "pool/growth.h"
#include "pool/lock_file.h"
#include "pool/segment_files.h"

namespace cairn::pool {
namespace {

Status check_directory(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return fail(errno, "%s: %s", path.c_str(), strerror(errno));
  if (!S_ISDIR(st.st_mode))
    return fail(ENOTDIR, "%s: a pool is a directory or a dax device", path.c_str());
  // Root is no exception: what the pool says would be done with root's rights.
  if (st.st_uid != geteuid())
    return fail(EACCES, "%s: the pool belongs to user %u%s", path.c_str(), st.st_uid,
                geteuid() != 0 ? ""
                               : "; use it as that user, or make root its owner (chown -R) if you "
                                 "trust what is in it");
  if ((st.st_mode & 077) != 0)
    return fail(EACCES, "%s: other users may enter this pool (mode %03o); it must be 0700",
                path.c_str(), st.st_mode & 0777);
  return Status();
}

// A device is inspected before it is opened, which some devices take for an order: the path may
// come from a claim. What was inspected is opened, whatever has the path by then.
Result<int> open_device(const std::string& path, media::Access access) {
  const auto failed = [&](const char* what) {
    const int error = errno;
    return fail(error, "%s: %s: %s", path.c_str(), what, strerror(error));
  };
  const int seen = open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW);
  if (seen < 0) return failed("look at the device");
  struct stat st {};
  Status status = fstat(seen, &st) != 0 ? failed("look at the device") : Status();
  if (status.ok() && !S_ISCHR(st.st_mode))
    status = fail(EINVAL, "%s: not a dax device", path.c_str());
  if (status.ok())
    status = media::inspect_dax(st.st_rdev, path.c_str(), media::SystemRoot()).status();
  int opened = -1;
  if (status.ok()) {
    const std::string same = "/proc/self/fd/" + std::to_string(seen);
    const int flags = access == media::Access::read_write ? O_RDWR : O_RDONLY;
    opened = open(same.c_str(), flags | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0) status = failed("open the device");
  }
  close(seen);
  if (!status.ok()) return status;
  return opened;
}

// Before the first segment is mapped: what its first block says, which is not verified yet.
Result<Manner> first_manner(Pool& pool, int fd, bool device) {
  Manner manner;
  manner.medium.mapping_unit = format::block_size;
  if (device) {
    auto found = media::recognise_device(fd, pool.path.c_str());
    if (!found.ok()) return found.status();
    manner.medium = *found;
  }
  manner.granularity = manner.medium.granularity;
  const FirstBlocks blocks = read_first_blocks(fd, manner.medium);
  if (device && !blocks.are_ours())
    return fail(ENOENT, "%s: no pool on this device; cairn pool create %s makes one",
                pool.path.c_str(), pool.path.c_str());
  const format::Superblock& page = blocks.copy(0);
  if (page.magic.load() != format::superblock_magic) return manner;
  const uint64_t kind = page.medium.load();
  if (kind >= 1 && kind <= 4 && !device) manner.medium.kind = static_cast<media::Kind>(kind);
  manner.medium.large_pages = page.large_pages.load() != 0;
  manner.stream_min = page.stream_min.load();
  set_granularity(page.granularity.load(), &manner);
  return manner;
}

media::Access access_of(const Pool& pool) {
  return pool.read_only ? media::Access::read_only : media::Access::read_write;
}

// What sweep_files removes.
bool is_of_a_moment(const char* name) {
  for (const char* prefix : {".cairn-link-", ".cairn-cwd-"})
    if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
  return false;
}

// A directory of somebody's own can have a file with the name of a segment in it.
Status check_ours(const std::string& path) {
  const std::string first = segment_path(path, 0);
  auto fd = media::open_segment(first.c_str(), media::Access::read_only);
  if (fd.code() == ENOENT) return fail(ENOENT, "%s: not a Cairn pool (no segment.0)", path.c_str());
  if (!fd.ok()) return fd.status();
  const bool ours = read_first_blocks(*fd, media::Description()).are_ours();
  close(*fd);
  return ours ? Status()
              : fail(ENOENT,
                     "%s: not a Cairn pool (segment.0 does not begin as that of a pool); if it "
                     "was one, remove the directory by hand",
                     path.c_str());
}

bool holds_others(const std::string& path) {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return true;
  uint32_t segments = 0;
  while (access(segment_path(path, segments).c_str(), F_OK) == 0) ++segments;
  bool found = false;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    const bool segment =
        name.compare(0, 8, "segment.") == 0 &&
        name == "segment." + std::to_string(strtoul(name.c_str() + 8, nullptr, 10)) &&
        strtoul(name.c_str() + 8, nullptr, 10) < segments;
    found = found || !(segment || name == "." || name == ".." || name == "companion" ||
                       name == "links" || is_of_a_moment(entry->d_name));
  }
  closedir(directory);
  return found;
}

Status open_first_segment(Pool& pool, bool device) {
  auto fd = device ? open_device(pool.path, access_of(pool))
                   : media::open_segment(segment_path(pool.path, 0).c_str(), access_of(pool));
  if (!fd.ok()) return fd.status();
  auto manner = first_manner(pool, *fd, device);
  if (!manner.ok()) {
    close(*fd);
    return manner.status();
  }
  struct stat st {};
  if (!device && fstat(*fd, &st) == 0) {
    pool.lock_device = st.st_dev;
    pool.lock_inode = st.st_ino;
  }
  pool.is_volatile = manner->granularity == persist::Granularity::none;
  CAIRN_TRY(map_segment(pool, 0, *fd, *manner));
  pool.segments.store(1);
  return Status();
}

}  // namespace

Result<std::unique_ptr<Pool>> open_files(const std::string& path, bool read_only) {
  const bool device = is_device(path);
  if (!device) CAIRN_TRY(check_directory(path));
  auto pool = std::make_unique<Pool>();
  pool->path = pool->home = device ? device_path(path) : path;
  pool->read_only = read_only;
  pool->lock_path = segment_path(path, 0);
  CAIRN_TRY(open_first_segment(*pool, device));
  CAIRN_TRY(read_format(*pool));
  if (device) {
    name_lock_file(*pool);
    CAIRN_TRY(agree_on_lock_file(*pool));
  }
  CAIRN_TRY(map_new_segments(*pool));
  pool->map_new_segments = map_new_segments;
  return pool;
}

void remove_folder(const std::string& path) {
  const int opened = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR* folder = opened < 0 ? nullptr : fdopendir(opened);
  if (folder == nullptr && opened >= 0) close(opened);
  if (folder != nullptr) {
    while (const dirent* entry = readdir(folder)) {
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
        unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
  }
  rmdir(path.c_str());
}

// Companions and an adapter's links go with it; nothing else is expected there.
void take_pool_apart(const std::string& path) {
  for (const char* folder : {"/companion", "/links"}) remove_folder(path + folder);
  sweep_files(path).ignore();  // its caller tells what stays
  remove_tree(path);
}

Status sweep_files(const std::string& path) {
  if (is_device(path)) return Status();  // has no directory of its own
  CAIRN_TRY(check_directory(path));
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return fail(errno, "%s: %s", path.c_str(), strerror(errno));
  std::vector<std::string> left;
  while (const dirent* entry = readdir(directory))
    if (is_of_a_moment(entry->d_name)) left.emplace_back(entry->d_name);
  Status status;
  for (const std::string& name : left) {
    const bool is_gone = unlinkat(dirfd(directory), name.c_str(), 0) == 0 ||
                         unlinkat(dirfd(directory), name.c_str(), AT_REMOVEDIR) == 0;
    if (!is_gone && errno != ENOENT)
      status = fail(errno, "%s/%s: %s", path.c_str(), name.c_str(), strerror(errno));
  }
  closedir(directory);
  return status;
}

Status remove_files(const std::string& given, const MayGo& may_go) {
  if (is_device(given)) return remove_from_device(device_path(given), may_go);
  const std::string path = plain_path(given);
  struct stat st {};
  if (lstat(path.c_str(), &st) == 0 && S_ISLNK(st.st_mode))
    return fail(ENOTDIR, "%s: a symbolic link; remove a pool by its own name", path.c_str());
  CAIRN_TRY(check_directory(path));
  if (is_hidden_place(path)) return remove_hidden_place(path);
  if (is_empty_directory(path))  // left by somebody who died while he made or removed a pool
    return rmdir(path.c_str()) == 0 ? Status()
                                    : fail(errno, "%s: %s", path.c_str(), strerror(errno));
  CAIRN_TRY(check_ours(path));
  HiddenPlace place;
  const bool alone = !holds_others(path);
  if (alone) CAIRN_TRY(place.make(path));
  // Whoever is about to attach waits, and finds that the name has gone.
  CAIRN_TRY_ASSIGN(lock, lock_attach(segment_path(path, 0)));
  CAIRN_TRY(check_unused(lock, path, may_go));
  if (alone) return place.take(path);
  take_pool_apart(path);
  return access(path.c_str(), F_OK) != 0
             ? Status()
             : fail(ENOTEMPTY, "%s: other files lie in this pool's directory and were left",
                    path.c_str());
}

}  // namespace cairn::pool
