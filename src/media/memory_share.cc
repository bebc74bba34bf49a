#include "media/memory_share.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/lines.h"

namespace cairn::media {
namespace {

// Version 1 writes "no limit" as the largest page-aligned number; no machine has that much.
constexpr uint64_t plausible_limit = uint64_t{1} << 60;

void narrow(MemoryShare& share, uint64_t bytes, const std::string& what) {
  if (bytes >= share.bytes) return;
  share.bytes = bytes;
  share.limited_by = what;
}

struct Names {
  const char* limits[2];
  const char* used;
  const char* active_file;
  const char* inactive_file;
};

constexpr Names version_2 = {
    {"memory.max", "memory.high"}, "memory.current", "active_file", "inactive_file"};
constexpr Names version_1 = {{"memory.limit_in_bytes", nullptr},
                             "memory.usage_in_bytes",
                             "total_active_file",
                             "total_inactive_file"};

// A cgroup is bound by every one above it, up to the mount point.
void narrow_by_cgroups(MemoryShare& share, const std::string& mount_point, std::string path,
                       const Names& names) {
  for (;;) {
    std::string directory = mount_point + (path == "/" ? "" : path);
    std::string used_text = read_line(directory + "/" + names.used);
    if (!used_text.empty()) {
      std::string stat = read_text(directory + "/memory.stat");
      uint64_t used = parse_limit(used_text);
      uint64_t reclaimable = parse_stat(stat, names.active_file) +
                             parse_stat(stat, names.inactive_file) +
                             parse_stat(stat, "slab_reclaimable");
      for (const char* limit : names.limits) {
        if (limit == nullptr) continue;
        uint64_t bytes = parse_limit(read_line(directory + "/" + limit));
        if (bytes != no_limit) {
          narrow(share, cgroup_leaves(bytes, used, reclaimable), "cgroup " + path);
        }
      }
    }
    if (path.empty() || path == "/") return;
    size_t slash = path.rfind('/');
    path = slash == 0 ? "/" : path.substr(0, slash);
  }
}

// The path below the mount point: in a container the mount's root is cut off, and a path that does
// not lie under it means the mount point itself.
std::string below_mount(const std::string& path, const Mount& mount) {
  if (mount.root == "/") return path;
  if (!lies_under(path, mount.root)) return "/";
  std::string rest = path.substr(mount.root.size());
  return rest.empty() ? "/" : rest;
}

void narrow_by_cgroups(MemoryShare& share, const SystemRoot& root) {
  std::string mine = read_text(root.path("/proc/self/cgroup"));
  for (const Mount& mount : parse_mountinfo(read_text(root.path("/proc/self/mountinfo")))) {
    bool first = mount.type == "cgroup" && !mount_option(mount, "memory").empty();
    if (!first && mount.type != "cgroup2") continue;
    std::string path = parse_cgroup_path(mine, first ? "memory" : "");
    if (path.empty()) continue;
    narrow_by_cgroups(share, root.path(mount.point), below_mount(path, mount),
                      first ? version_1 : version_2);
  }
}

}  // namespace

uint64_t parse_meminfo(const std::string& text, const std::string& key) {
  size_t at = text.compare(0, key.size() + 1, key + ":") == 0 ? 0 : text.find("\n" + key + ":");
  if (at == std::string::npos) return no_limit;
  at = text.find(':', at);
  return std::strtoull(text.c_str() + at + 1, nullptr, 10) * 1024;
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

Result<MemoryShare> memory_share(const char* path, const SystemRoot& root) {
  struct statvfs info;
  if (statvfs(path, &info) != 0) {
    int error = errno;
    return fail(error, "%s: free space: %s", path, std::strerror(error));
  }
  // Asked within a program's write: what is missing under /proc and /sys is no failure of that.
  const int before = errno;
  MemoryShare share;
  share.bytes = no_limit;
  // A tmpfs mounted without a size says that it has no blocks at all.
  if (info.f_blocks != 0) {
    narrow(share, static_cast<uint64_t>(info.f_bavail) * info.f_frsize, path);
  }
  uint64_t available = parse_meminfo(read_text(root.path("/proc/meminfo")), "MemAvailable");
  narrow(share, available, "the machine's memory");
  narrow_by_cgroups(share, root);
  errno = before;
  return share;
}

}  // namespace cairn::media
