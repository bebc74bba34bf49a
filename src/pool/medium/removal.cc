#include "pool/medium/removal.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "pool/medium/device.h"
#include "pool/medium/files.h"
#include "pool/medium/hidden_place.h"
#include "pool/medium/lock_file.h"
#include "pool/medium/pool_directory.h"
#include "pool/medium/segment_files.h"

namespace cairn::pool {
namespace {

// A user's own directory can have a file with the name of a segment in it.
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

// What cannot be opened as a pool has no identity that could name a lock file.
Status wipe_damaged(const std::string& device) {
  auto fd = media::open_segment(device.c_str());
  if (!fd.ok()) return fd.status();
  auto medium = media::recognise_device(*fd, device.c_str());
  Status status = medium.status();
  if (medium.ok()) {
    const uint64_t size = std::max<uint64_t>(medium->mapping_unit, 2 * format::block_size);
    auto mapping = media::map(*fd, *medium, 0, size);
    status = mapping.status();
    if (mapping.ok()) {
      Region region;
      persist::RegionOptions options;
      options.base = mapping->base;
      options.size = size;
      options.granularity = medium->granularity;
      options.large_pages = true;
      status = region.open(options);
      if (status.ok()) status = region.zero(0, 2 * format::block_size);
      if (status.ok()) status = region.fence();
      region.close();
      media::unmap(*mapping);
    }
  }
  close(*fd);
  return status;
}

// ENOENT if no pool lies on it; EBUSY if processes are attached, ECANCELED if it may not go, ESTALE
// if they might be through another lock file.
Status remove_from_device(const std::string& device, const MayGo& may_go) {
  auto blocks = read_device(device);
  if (!blocks.ok()) return blocks.status();
  if (!blocks->are_ours()) return fail(ENOENT, "%s: no pool on this device", device.c_str());
  auto pool = open_files(device, false);
  if (pool.code() == EUCLEAN) return wipe_damaged(device);
  if (!pool.ok()) return pool.status();
  auto lock = lock_attach(**pool);
  if (!lock.ok()) return lock.status();
  CAIRN_TRY(check_unused(*lock, device, may_go));
  CAIRN_TRY(wipe_identity(**pool));
  remove_lock_file(**pool);
  return Status();
}

}  // namespace

Status remove_files(const std::string& given, const MayGo& may_go) {
  if (is_device(given)) return remove_from_device(device_path(given), may_go);
  const std::string path = plain_path(given);
  struct stat st {};
  if (lstat(path.c_str(), &st) == 0 && S_ISLNK(st.st_mode))
    return fail(ENOTDIR, "%s: a symbolic link; remove a pool by its own name", path.c_str());
  CAIRN_TRY(check_directory(path));
  if (is_hidden_place(path)) return remove_hidden_place(path);
  if (is_empty_directory(path))  // left by a process that died while it made or removed a pool
    return rmdir(path.c_str()) == 0 ? Status()
                                    : fail(errno, "%s: %s", path.c_str(), strerror(errno));
  CAIRN_TRY(check_ours(path));
  HiddenPlace place;
  const bool alone = !holds_others(path);
  if (alone) CAIRN_TRY(place.make(path));
  // A process that is about to attach waits, and finds that the name has gone.
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
