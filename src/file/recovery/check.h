// Check: verifies a pool without changing it.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"

namespace cairn::file {

// Calls finding(text) for every fault, and returns the number of faults. Fails only if the pool
// cannot be read (no pool, no permission).
Result<uint64_t> check(const std::string& path, const std::function<void(const char*)>& finding);

class FileSystem;
// Checks a pool that is already mapped.
uint64_t check_mapped(FileSystem& fs, const std::function<void(const char*)>& finding);

}  // namespace cairn::file
