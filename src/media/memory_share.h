// How much memory a pool on tmpfs may still take, so that ENOSPC comes before the OOM killer.
//
// The least of: what the machine has available, what the file system has free, and what every
// cgroup above this process leaves (version 1 and 2; page cache that can be dropped counts as
// free). A charge beyond a cgroup's limit is not refused by the kernel, it kills: so it must be
// asked first.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "media/file_system.h"

namespace cairn::media {

struct MemoryShare {
  uint64_t bytes = 0;
  std::string limited_by;  // for people: "the machine's memory", "/dev/shm", "cgroup /user.slice"
};

// For new pages on the file system that holds `path`, charged to this process's cgroup. Fails only
// when the file system cannot be asked; what the system does not tell does not limit.
Result<MemoryShare> memory_share(const char* path, const SystemRoot& root = SystemRoot());

// --- the pieces, for tests ---
inline constexpr uint64_t no_limit = UINT64_MAX;
// "MemAvailable:   123 kB" → bytes; no_limit when the key is not there.
uint64_t parse_meminfo(const std::string& text, const std::string& key);
// One line "key value" of memory.stat; 0 when it is not there.
uint64_t parse_stat(const std::string& text, const std::string& key);
// "max", "9223372036854771712" (version 1's no limit) or bytes.
uint64_t parse_limit(const std::string& text);
// The path of this process's memory cgroup in /proc/self/cgroup: of controller `memory` (version 1)
// or of hierarchy 0 (version 2, controller ""); empty when it is not there.
std::string parse_cgroup_path(const std::string& text, const std::string& controller);
// What a cgroup leaves: limit - (used - reclaimable), never below 0.
uint64_t cgroup_leaves(uint64_t limit, uint64_t used, uint64_t reclaimable);

}  // namespace cairn::media
