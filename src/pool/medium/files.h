// Files: a pool's segments on their medium, from a path to mapped memory and back.
//
// A pool is a directory (mode 0700) with the files segment.0, segment.1, ..., companion/ (for
// record locks) and the files that adapters add; or a devdax device, whose locks and companions lie
// in shared memory (lock_file.h).
#pragma once

#include <memory>
#include <string>

#include "pool/core/pool.h"
#include "pool/medium/hidden_place.h"

namespace cairn::pool {

struct CreateOptions {
  uint32_t lanes = 0;        // 0: by size
  uint64_t size_bytes = 0;   // 0: what the machine allows
  uint32_t segments = 0;     // 0: the maximum that the machine allows
  uint32_t granularity = 0;  // 0: the medium's, else persist::Granularity, forced
};

inline constexpr uint64_t least_pool_bytes = 4ULL << 20;

// Creates the segments and writes an empty format: identity, tables, no inode yet. The pool is left
// unclean and unattached, in `place` unless it is on a device. The caller makes the root directory,
// gives the pool its name and closes it. On failure nothing is left behind.
Result<std::unique_ptr<Pool>> create_files(const std::string& path, const CreateOptions& options,
                                           HiddenPlace* place);
// Moves a complete pool to its name.
Status give_name(const Pool& pool, const std::string& path, HiddenPlace& place);

// Maps an existing pool and validates its identity; takes no lane and recovers nothing.
Result<std::unique_ptr<Pool>> open_files(const std::string& path, bool read_only);

// Removes from a pool's directory the temporary files of an adapter that a killed process has left.
// A running process makes such files elsewhere.
Status sweep_files(const std::string& path);

}  // namespace cairn::pool
