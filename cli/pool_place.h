// Where pools lie, and how a name becomes a pool's path.
//
// pool.dir is a directory or a dax device. A device is one pool. In a directory that only we can write
// to, pools lie directly; in one that others can write to (/dev/shm, a shared /mnt/pmem) they lie in our own
// subdirectory cairn-UID, which must be ours and closed to everybody else: in a world-writable place
// anybody could have made it before us.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config.h"

namespace cairn::cli {

struct PoolPlace {
  std::string directory;  // where the pools lie; for a device: where its lock file lies
  std::string device;     // the dax device, or ""
};

// Resolves pool.dir. With `create`, missing directories are made (mode 0700), one level.
PoolPlace pool_place(const Config& config, bool create);

// The path of a pool: `pool` is a name in the pool directory, a path (it contains a '/'), or "" for the
// configured pool. Inside a run (CAIRN_POOL is set) the run's pool is used unless another one is named.
std::string pool_path(const Config& config, const std::string& pool, bool create_place = false);

// The short name under which people know a pool at `path`.
std::string pool_name_of(const std::string& path);

// Paths of all pools in the pool directory, by name; the device if it is one.
std::vector<std::string> list_pools(const Config& config);

// Where the locks lie (PlaceLock) of those who use the pool at `path`.
std::string lock_directory(const std::string& path);

// Throws unless `directory` is a directory of ours without permissions for others.
void require_private(const std::string& directory);

// The file of the lock `name` (PlaceLock) in a directory.
std::string lock_path(const std::string& directory, const std::string& name);

// An advisory lock on a file beside the pools: what several commands must not do at once.
class PlaceLock {
 public:
  enum class Mode { shared, exclusive };
  // `name` tells locks in one directory apart. Waits unless `wait` is false; then held() tells.
  PlaceLock(const std::string& directory, const std::string& name, Mode mode, bool wait = true);
  ~PlaceLock();
  PlaceLock(const PlaceLock&) = delete;
  PlaceLock& operator=(const PlaceLock&) = delete;

  [[nodiscard]] bool held() const { return held_; }
  // From shared to exclusive or back. Returns false if it may not wait and would have to, or if a
  // signal interrupted the wait (stop_signal is set then).
  bool change(Mode mode, bool wait);
  // Waits; each time that a signal interrupts it, `go_on` says whether to wait further.
  bool change(Mode mode, const std::function<bool()>& go_on);
  [[nodiscard]] const std::string& path() const { return path_; }
  void release();

 private:
  std::string path_;
  int descriptor_ = -1;
  bool held_ = false;
};

}  // namespace cairn::cli
