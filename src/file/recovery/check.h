// Check: verifies a pool without changing it.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"

namespace cairn::file {

// Calls finding(text) for everything that is wrong; the number of findings. Fails only if the pool
// cannot be looked at (no pool, no permission).
Result<uint64_t> check(const std::string& path, const std::function<void(const char*)>& finding);

class FileSystem;
// Checks a pool that is mapped already.
uint64_t check_mapped(FileSystem& fs, const std::function<void(const char*)>& finding);

}  // namespace cairn::file
