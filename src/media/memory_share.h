// Memory share: the memory that a pool on tmpfs may still take, so that ENOSPC comes before the OOM
// killer.
//
// It is the least of the machine's available memory, the file system's free space, and what the
// cgroups above this process leave for pools (cgroup.h). The kernel does not refuse a charge beyond
// a cgroup's limit, it kills: so the limit must be checked first.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "media/cgroup.h"
#include "media/file_system.h"

namespace cairn::media {

struct MemoryShare {
  uint64_t bytes = 0;
  std::string limited_by;  // for people: "the machine's memory", "/dev/shm", "cgroup /user.slice"
};

// Returns the share for new pages on the file system that holds `path`, charged to this process's
// cgroup. Fails only if the file system cannot be asked; limits that the system does not report do
// not count.
Result<MemoryShare> memory_share(const char* path, const SystemRoot& root = SystemRoot());

// Returns MemAvailable; no_limit if the system does not report it.
uint64_t memory_available(const SystemRoot& root = SystemRoot());

// --- the pieces, for tests ---
// "MemAvailable:   123 kB" → bytes; no_limit when the key is not there.
uint64_t parse_meminfo(const std::string& text, const std::string& key);

}  // namespace cairn::media
