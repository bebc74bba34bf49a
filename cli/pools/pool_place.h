// Where pools lie, and how a name becomes a pool's path.
//
// pool.dir is a directory or a dax device. A device is one pool. In a directory that only we can
// write to, pools lie directly; in one that others can write to (/dev/shm, a shared /mnt/pmem) they
// lie in our own subdirectory cairn-UID, which must be ours and closed to everybody else: in a
// world-writable place another user could have made it before us.
#pragma once

#include <string>
#include <vector>

#include "frame/config.h"

namespace cairn::cli {

struct PoolPlace {
  std::string directory;  // where the pools lie; for a device: where its lock file lies
  std::string device;     // the dax device, or ""
};

// Resolves pool.dir. With `create`, missing directories are made (mode 0700), one level.
PoolPlace pool_place(const Config& config, bool create);

// The path of a pool: `pool` is a name in the pool directory, a path (it contains a '/'), or "" for
// the configured pool. Inside a run (CAIRN_POOL is set) the run's pool is used unless another one
// is named.
std::string pool_path(const Config& config, const std::string& pool, bool create_place = false);

// The short name under which people know a pool at `path`.
std::string pool_name_of(const std::string& path);

// Paths of all pools in the pool directory, by name; the device if it is one.
std::vector<std::string> list_pools(const Config& config);

// What a process that was killed while it made or removed a pool left in the pool directory (or a
// process is about to).
std::vector<std::string> list_unfinished(const Config& config);

// Where the locks (PlaceLock) lie of processes that use the pool at `path`.
std::string lock_directory(const std::string& path);

// Throws unless `directory` is a directory of ours without permissions for others.
void require_private(const std::string& directory);

}  // namespace cairn::cli
