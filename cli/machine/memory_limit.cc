#include "machine/memory_limit.h"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

#include "text/error.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

uint64_t device_size(dev_t device) {
  std::ifstream size("/sys/dev/char/" + std::to_string(major(device)) + ":" +
                     std::to_string(minor(device)) + "/size");
  uint64_t bytes = 0;
  size >> bytes;
  return bytes;
}

}  // namespace

cairn_memory_left memory_left() {
  cairn_memory_left left{};
  left.struct_size = sizeof left;
  check(cairn_memory_get_left(&left));
  return left;
}

uint64_t place_limit(const std::string& directory) {
  struct stat st {};
  if (stat(directory.c_str(), &st) == 0 && S_ISCHR(st.st_mode)) return device_size(st.st_rdev);
  struct statfs fs {};
  if (statfs(directory.c_str(), &fs) != 0) throw Error(exit_failed, system_error(directory, errno));
  uint64_t bytes = static_cast<uint64_t>(fs.f_bavail) * static_cast<uint64_t>(fs.f_bsize);
  if (fs.f_type == TMPFS_MAGIC) {
    const cairn_memory_left left = memory_left();
    // This process takes a little more before the library looks.
    constexpr uint64_t own = 2 << 20;
    bytes = std::min({bytes, left.machine, left.cgroup_left - std::min(left.cgroup_left, own)});
  }
  // A process can map no more than this. The library divides a pool into files.
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    bytes = std::min<uint64_t>(bytes, space.rlim_cur);
  return bytes;
}

uint64_t pool_size(const Config& config, const std::string& directory) {
  const std::string& text = config.value("pool.size");
  if (text == "auto") return 0;
  const Size size = parse_size(text);
  if (!size.is_percent) return size.bytes;
  return static_cast<uint64_t>(static_cast<double>(place_limit(directory)) * size.percent / 100);
}

}  // namespace cairn::cli
