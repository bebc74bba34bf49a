// What a pool may take here: free memory of the machine and of its cgroup, free space of the place.
#pragma once

#include <cstdint>
#include <string>

#include "frame/config.h"

namespace cairn::cli {

struct MemoryLimit {
  uint64_t available_bytes = 0;  // MemAvailable
  uint64_t cgroup_free_bytes = UINT64_MAX;
  std::string cgroup_file;  // where the limit stands, "" if there is none
};
MemoryLimit memory_limit();

// Bytes that a pool in `directory` could take at most.
uint64_t place_limit(const std::string& directory);

// pool.size in bytes for the library: 0 lets it choose.
uint64_t pool_size(const Config& config, const std::string& directory);

}  // namespace cairn::cli
