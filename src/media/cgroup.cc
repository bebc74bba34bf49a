#include "media/cgroup.h"

#include <algorithm>
#include <cstdlib>

#include "base/lines.h"

namespace cairn::media {
namespace {

// Version 1 writes "no limit" as the largest page-aligned number; no machine has that much.
constexpr uint64_t plausible_limit = uint64_t{1} << 60;

struct MemoryFiles {
  const char* limits[2];
  const char* used;
  const char* active_file;
  const char* inactive_file;
};
constexpr MemoryFiles version_2 = {
    {"memory.max", "memory.high"}, "memory.current", "active_file", "inactive_file"};
constexpr MemoryFiles version_1 = {{"memory.limit_in_bytes", nullptr},
                                   "memory.usage_in_bytes",
                                   "total_active_file",
                                   "total_inactive_file"};

// Returns the path below the mount point. In a container the mount's root is cut off, and a path
// that does not lie under it means the mount point itself.
std::string below_mount(const std::string& path, const Mount& mount) {
  if (mount.root == "/") return path;
  if (!lies_under(path, mount.root)) return "/";
  std::string rest = path.substr(mount.root.size());
  return rest.empty() ? "/" : rest;
}

void narrow(CgroupMemory& memory, const Cgroup& group) {
  const MemoryFiles& files = group.version == 1 ? version_1 : version_2;
  const uint64_t used = group.number(files.used);
  if (used == no_limit) return;
  const std::string stat = read_text(group.directory + "/memory.stat");
  const uint64_t reclaimable = parse_stat(stat, files.active_file) +
                               parse_stat(stat, files.inactive_file) +
                               parse_stat(stat, "slab_reclaimable");
  for (const char* name : files.limits) {
    if (name == nullptr) continue;
    const uint64_t limit = group.number(name);
    if (limit == no_limit) continue;
    const CgroupMemory here{cgroup_leaves(limit, used, reclaimable), limit, group.path,
                            group.directory + "/" + name};
    if (here.for_pools() < memory.for_pools()) memory = here;
  }
}

}  // namespace

uint64_t Cgroup::number(const char* file) const {
  return parse_limit(read_line(directory + "/" + file));
}

std::vector<Cgroup> cgroups_of(const std::string& controller, const SystemRoot& root) {
  std::vector<Cgroup> found;
  const std::string mine = read_text(root.path("/proc/self/cgroup"));
  for (const Mount& mount : parse_mountinfo(read_text(root.path("/proc/self/mountinfo")))) {
    const bool first = mount.type == "cgroup" && !mount_option(mount, controller).empty();
    if (!first && mount.type != "cgroup2") continue;
    std::string path = parse_cgroup_path(mine, first ? controller : "");
    if (path.empty()) continue;
    path = below_mount(path, mount);
    for (;;) {
      const std::string below = path == "/" ? "" : path;
      found.push_back({path, root.path(mount.point) + below, first ? 1 : 2});
      if (path.empty() || path == "/") break;
      const size_t slash = path.rfind('/');
      path = slash == 0 ? "/" : path.substr(0, slash);
    }
  }
  return found;
}

uint64_t cgroup_margin(uint64_t limit) {
  constexpr uint64_t least = 16 << 20;
  constexpr uint64_t most = 256 << 20;
  return std::min(limit / 4, std::clamp(limit / 16, least, most));
}

uint64_t CgroupMemory::for_pools() const {
  return limit == no_limit ? no_limit : left - std::min(left, cgroup_margin(limit));
}

CgroupMemory cgroup_memory(const SystemRoot& root) {
  CgroupMemory memory;
  for (const Cgroup& group : cgroups_of("memory", root)) narrow(memory, group);
  return memory;
}

uint64_t parse_stat(const std::string& text, const std::string& key) {
  size_t at = text.compare(0, key.size() + 1, key + " ") == 0 ? 0 : text.find("\n" + key + " ");
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + text.find(' ', at) + 1, nullptr, 10);
}

uint64_t parse_limit(const std::string& text) {
  if (text.empty() || text.compare(0, 3, "max") == 0) return no_limit;
  uint64_t bytes = std::strtoull(text.c_str(), nullptr, 10);
  return bytes >= plausible_limit ? no_limit : bytes;
}

std::string parse_cgroup_path(const std::string& text, const std::string& controller) {
  Lines lines(text);
  for (std::string_view next; lines.next(&next);) {
    const std::string line(next);
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string list = "," + line.substr(first + 1, second - first - 1) + ",";
    bool wanted =
        controller.empty() ? list == ",," : list.find("," + controller + ",") != std::string::npos;
    if (wanted) return line.substr(second + 1);
  }
  return std::string();
}

uint64_t cgroup_leaves(uint64_t limit, uint64_t used, uint64_t reclaimable) {
  uint64_t kept = used - std::min(used, reclaimable);
  return limit - std::min(limit, kept);
}

}  // namespace cairn::media
