#include "pool/medium/removal.h"

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

// Checks the contents: a user's own directory can have a file with the name of a segment.
Status check_ours(const Directory& pool) {
  const std::string& path = pool.path();
  auto fd = media::open_segment(pool.descriptor(), segment_name(0).c_str(),
                                segment_path(path, 0).c_str(), media::Access::read_only);
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

bool holds_others(const Directory& pool) {
  uint32_t segments = 0;
  while (pool.has(segment_name(segments))) ++segments;
  const auto is_segment = [&](const std::string& name) {
    if (!name.starts_with("segment.")) return false;
    const unsigned long number = strtoul(name.c_str() + strlen("segment."), nullptr, 10);
    return number < segments && name == segment_name(static_cast<uint32_t>(number));
  };
  const auto names = pool.names();
  return !names.ok() || std::any_of((*names).begin(), (*names).end(), [&](const std::string& name) {
    return !is_segment(name) && name != "companion" && name != "links" && !is_of_a_moment(name);
  });
}

// Wipes a device whose pool cannot be opened; it has no identity that could name a lock file.
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

// Removes a pool from a device. ENOENT if no pool lies on it; EBUSY if processes are attached,
// ECANCELED if it may not be removed, ESTALE if processes might be attached through another lock
// file.
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
  const std::string name = last_of(path);
  CAIRN_TRY_ASSIGN(above, Directory::open(parent_of(path)));
  struct stat st {};
  if (above.look(name, &st) && S_ISLNK(st.st_mode))
    return fail(ENOTDIR, "%s: a symbolic link; remove a pool by its own name", path.c_str());
  CAIRN_TRY_ASSIGN(pool, open_pool_directory(above, name));
  if (is_hidden_place(name)) return remove_hidden_place(above, name);
  if (pool.is_empty())  // left by a process that died while it made or removed a pool
    return above.remove_directory(name);
  CAIRN_TRY(check_ours(pool));
  HiddenPlace place;
  const bool alone = !holds_others(pool);
  if (alone) CAIRN_TRY(place.make(above, name));
  // A process that is about to attach waits, and finds that the name is gone.
  auto lock = lock_attach(segment_path(pool.by_descriptor(), 0), segment_path(path, 0));
  if (!lock.ok()) return lock.status();
  CAIRN_TRY(check_unused(*lock, path, may_go));
  if (alone) return place.take(pool);
  take_pool_apart(pool);
  if (above.holds(name, pool)) above.remove_directory(name).ignore();
  return !above.has(name)
             ? Status()
             : fail(ENOTEMPTY, "%s: other files lie in this pool's directory and were left",
                    path.c_str());
}

}  // namespace cairn::pool
