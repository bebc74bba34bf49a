#include "machine/memory_limit.h"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "text/error.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

// The number in a one-line file; `otherwise` if there is none ("max").
uint64_t number_in(const std::string& path, uint64_t otherwise) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : otherwise;
}

// Walks a cgroup and those above it; the lowest limit counts.
void look_at(MemoryLimit& limit, const std::string& mount, std::string group, const char* most,
             const char* now) {
  for (;;) {
    const std::string directory = mount + (group == "/" ? "" : group);
    const uint64_t bytes = number_in(directory + "/" + most, UINT64_MAX);
    if (bytes < UINT64_MAX / 4) {
      const uint64_t used = number_in(directory + "/" + now, 0);
      const uint64_t free = bytes > used ? bytes - used : 0;
      if (free < limit.cgroup_free_bytes) {
        limit.cgroup_free_bytes = free;
        limit.cgroup_file = directory + "/" + most;
      }
    }
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos || group == "/") return;
    group = slash == 0 ? "/" : group.substr(0, slash);
  }
}

}  // namespace

MemoryLimit memory_limit() {
  MemoryLimit limit;
  std::ifstream memory("/proc/meminfo");
  for (std::string line; std::getline(memory, line);)
    if (line.starts_with("MemAvailable:"))
      limit.available_bytes = std::stoull(line.substr(13)) * 1024;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t second = line.rfind(':');
    if (second == std::string::npos) continue;
    const std::string group = line.substr(second + 1);
    if (line.starts_with("0::"))
      look_at(limit, "/sys/fs/cgroup", group, "memory.max", "memory.current");
    else if (line.find(":memory:") != std::string::npos)
      look_at(limit, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
              "memory.usage_in_bytes");
  }
  return limit;
}

namespace {

uint64_t device_size(dev_t device) {
  std::ifstream size("/sys/dev/char/" + std::to_string(major(device)) + ":" +
                     std::to_string(minor(device)) + "/size");
  uint64_t bytes = 0;
  size >> bytes;
  return bytes;
}

}  // namespace

uint64_t place_limit(const std::string& directory) {
  struct stat st {};
  if (stat(directory.c_str(), &st) == 0 && S_ISCHR(st.st_mode)) return device_size(st.st_rdev);
  struct statfs fs {};
  if (statfs(directory.c_str(), &fs) != 0) throw Error(exit_failed, system_error(directory, errno));
  uint64_t bytes = static_cast<uint64_t>(fs.f_bavail) * static_cast<uint64_t>(fs.f_bsize);
  if (fs.f_type == TMPFS_MAGIC) {
    const MemoryLimit limit = memory_limit();
    bytes = std::min({bytes, limit.available_bytes, limit.cgroup_free_bytes});
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
