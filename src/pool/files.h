// Files: a pool's segments on their medium, from a path to mapped memory and back.
//
// A pool is a directory (mode 0700) with the files segment.0, segment.1, ..., companion/ (for record
// locks) and whatever adapters put beside them; or a devdax device, whose locks and companions lie in shared
// memory (lock_file.h).
#pragma once

#include <memory>
#include <string>

#include "pool/attach_lock.h"
#include "pool/hidden_place.h"
#include "pool/pool.h"

namespace cairn::pool {

struct CreateOptions {
  uint32_t lanes = 0;        // 0: by size
  uint64_t size_bytes = 0;   // 0: what the machine allows
  uint32_t segments = 0;     // 0: by size and processors
  uint32_t granularity = 0;  // 0: the medium's, else persist::Granularity, forced
};

inline constexpr uint64_t least_pool_bytes = 4ULL << 20;

// Makes the segments and writes an empty format: identity, tables, no inode yet. The pool is left
// unclean and unattached, in `place` unless it is on a device; the caller makes the root directory, gives the pool its name and
// closes it. On failure nothing is left behind.
Result<std::unique_ptr<Pool>> create_files(const std::string& path, const CreateOptions& options,
                                           HiddenPlace* place);
// Puts the pool that is made now where it belongs.
Status give_name(const Pool& pool, const std::string& path, HiddenPlace& place);

// Maps an existing pool and validates its identity; takes no lane and recovers nothing.
Result<std::unique_ptr<Pool>> open_files(const std::string& path, bool read_only);

// Removes the files of a pool that nobody is attached to; from a device, its superblocks; or a hidden place that is left
// over. What does not begin as pools do is not touched (ENOENT), but for an empty directory; nor is a symbolic link (ENOTDIR).
Status remove_files(const std::string& path, const MayGo& may_go = nullptr);
// Removes from a pool's directory what an adapter makes there for a moment and a killed process has left. One that is just making it
// makes it elsewhere.
Status sweep_files(const std::string& path);
// Removes of a pool's directory what a pool consists of, and the directory if nothing else is in it.
void take_pool_apart(const std::string& path);
// Unlinks the files of a folder, and the folder.
void remove_folder(const std::string& path);

// Writes the format into segments that are mapped already (files, or the simulator's memory).
Status write_format(Pool& pool, uint32_t lanes, uint64_t seed);
// Checks the identity of mapped segments and fills in what depends on it.
Status read_format(Pool& pool);
// Writes both superblocks, which makes the pool exist.
Status publish_identity(Pool& pool);
// Makes segment `number`, which is mapped and laid out, part of the pool, and counts it.
Status publish_segment(Pool& pool, uint32_t number);
Status check_segment_header(Pool& pool, uint32_t number);
// Fills a Segment's table pointers once base and blocks are known.
void lay_out(Segment& segment, uint32_t lanes);

// Fills `words` with the boot's identity.
void read_boot_id(uint64_t words[2]);

}  // namespace cairn::pool
