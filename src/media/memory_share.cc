#include "media/memory_share.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "media/cgroup.h"

namespace cairn::media {
namespace {

void narrow(MemoryShare& share, uint64_t bytes, const std::string& what) {
  if (bytes >= share.bytes) return;
  share.bytes = bytes;
  share.limited_by = what;
}

}  // namespace

uint64_t parse_meminfo(const std::string& text, const std::string& key) {
  size_t at = text.compare(0, key.size() + 1, key + ":") == 0 ? 0 : text.find("\n" + key + ":");
  if (at == std::string::npos) return no_limit;
  at = text.find(':', at);
  return std::strtoull(text.c_str() + at + 1, nullptr, 10) * 1024;
}

uint64_t memory_available(const SystemRoot& root) {
  return parse_meminfo(read_text(root.path("/proc/meminfo")), "MemAvailable");
}

Result<MemoryShare> memory_share(const char* path, const SystemRoot& root) {
  struct statvfs info;
  if (statvfs(path, &info) != 0) {
    int error = errno;
    return fail(error, "%s: free space: %s", path, std::strerror(error));
  }
  // This runs within a program's write, which must not see an error about missing files in /proc
  // and /sys.
  const int before = errno;
  MemoryShare share;
  share.bytes = no_limit;
  // A tmpfs mounted without a size reports that it has no blocks at all.
  if (info.f_blocks != 0) {
    narrow(share, static_cast<uint64_t>(info.f_bavail) * info.f_frsize, path);
  }
  narrow(share, memory_available(root), "the machine's memory");
  const CgroupMemory cgroup = cgroup_memory(root);
  narrow(share, cgroup.for_pools(), "cgroup " + cgroup.path);
  errno = before;
  return share;
}

}  // namespace cairn::media
