// How much memory a pool on tmpfs may still take, so that ENOSPC comes before the OOM killer.
//
// The least of: what the machine has available, what the file system has free, and what the cgroups
// above this process leave for pools (cgroup.h). A charge beyond a cgroup's limit is not refused by
// the kernel, it kills: so it must be asked first.
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

// For new pages on the file system that holds `path`, charged to this process's cgroup. Fails only
// when the file system cannot be asked; what the system does not tell does not limit.
Result<MemoryShare> memory_share(const char* path, const SystemRoot& root = SystemRoot());

// MemAvailable; no_limit if the system does not tell.
uint64_t memory_available(const SystemRoot& root = SystemRoot());

// --- the pieces, for tests ---
// "MemAvailable:   123 kB" → bytes; no_limit when the key is not there.
uint64_t parse_meminfo(const std::string& text, const std::string& key);

}  // namespace cairn::media
