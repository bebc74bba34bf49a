// Finds the place where pools lie, and the path of a pool from its name.
//
// pool.dir is a directory or a dax device. A device is one pool. In a directory that only we can
// write to, pools lie directly; in one that others can write to (/dev/shm, a shared /mnt/pmem) they
// lie in our own subdirectory (cairn_own_place), which is ours and closed to everybody else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frame/config.h"

namespace cairn::cli {

struct PoolPlace {
  // The directory of the pools or, for a device, of its lock file. "", without `create`: another
  // user has taken the usual name, and this user has no place.
  std::string directory;
  std::string device;  // the dax device, or ""
};

// Resolves pool.dir. With `create`, missing directories are made (mode 0700), one level.
PoolPlace pool_place(const Config& config, bool create);

// The path of a pool: `pool` is a name in the pool directory, a path (it contains a '/'), or "" for
// the configured pool. Inside a run (CAIRN_POOL is set) the run's pool is used unless another one
// is named.
std::string pool_path(const Config& config, const std::string& pool, bool create_place = false);

// The path of the configured pool or of that of the run; none where no place for it is there yet.
std::optional<std::string> configured_pool(const Config& config);

// The short name under which people know a pool at `path`.
std::string pool_name_of(const std::string& path);

// Paths of all pools in the pool directory, by name; the device if it is one.
std::vector<std::string> list_pools(const Config& config);

// Lists unfinished pools in the pool directory: a process was killed while it made or removed one,
// or is doing so now.
std::vector<std::string> list_unfinished(const Config& config);

// The directory of the locks (PlaceLock) of processes that use the pool at `path`.
std::string lock_directory(const std::string& path);

// Says whose pools lie in the pool directory if it is another user's own, and how to get at them;
// "" if it is not, or none are seen there. Commands that list this user's pools pass by those.
std::string pools_of_other(const Config& config);

}  // namespace cairn::cli
