// Computes how much a pool may take: free memory of the machine and of its cgroup, free space of
// the place.
#pragma once

#include <cairn/cairn.h>

#include <cstdint>
#include <string>

#include "frame/config.h"

namespace cairn::cli {

cairn_memory_left memory_left();

// Bytes that a pool in `directory` could take at most.
uint64_t place_limit(const std::string& directory);

// pool.size in bytes for the library: 0 lets it choose.
uint64_t pool_size(const Config& config, const std::string& directory);

}  // namespace cairn::cli
