// Cgroups: the cgroups that this process is in, and the memory that their limits leave.
//
// A process lies below a path of cgroups in each hierarchy, from its own up to the root, and the
// limit of each one binds it. A container shows that path only from its own root on. Both versions
// are read, wherever they are mounted; a system may have both (hybrid).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "media/file_system.h"

namespace cairn::media {

// Stands for no limit.
inline constexpr uint64_t no_limit = UINT64_MAX;

struct Cgroup {
  std::string path;       // as /proc/self/cgroup has it, below the mount
  std::string directory;  // where its files lie
  int version = 2;
  // Returns the first number in one of its files; no_limit if there is none, or "max".
  [[nodiscard]] uint64_t number(const char* file) const;
};
// Returns this process's cgroups with that controller (version 1), and those of version 2. Each
// path begins with the process's own.
std::vector<Cgroup> cgroups_of(const std::string& controller, const SystemRoot& root);

// The memory limit that leaves least.
struct CgroupMemory {
  uint64_t left = no_limit;   // limit - used; page cache that can be dropped counts as free
  uint64_t limit = no_limit;  // no_limit: there is none
  std::string path;           // of the cgroup
  std::string file;           // that has the limit
  // Returns how much of `left` a pool may take. A margin stays for the processes and for drains:
  // the kernel does not refuse memory beyond the limit, it kills.
  [[nodiscard]] uint64_t for_pools() const;
};
CgroupMemory cgroup_memory(const SystemRoot& root = SystemRoot());
// Returns a sixteenth of a limit, 16 MiB to 256 MiB, but never more than a quarter.
uint64_t cgroup_margin(uint64_t limit);

// --- the pieces, for tests ---
// One line "key value" of memory.stat; 0 when it is not there.
uint64_t parse_stat(const std::string& text, const std::string& key);
// Parses "max", "9223372036854771712" (version 1's no limit) or bytes.
uint64_t parse_limit(const std::string& text);
// Returns the path of this process's cgroup in /proc/self/cgroup: of a controller (version 1) or of
// hierarchy 0 (version 2, controller ""); empty if it is not there.
std::string parse_cgroup_path(const std::string& text, const std::string& controller);
// Returns what a cgroup leaves: limit - (used - reclaimable), never below 0.
uint64_t cgroup_leaves(uint64_t limit, uint64_t used, uint64_t reclaimable);

}  // namespace cairn::media
