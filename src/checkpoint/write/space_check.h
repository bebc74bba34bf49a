// SpaceCheck: computes the space that a version needs, and the space of the pool.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/define/definitions.h"
#include "checkpoint/layout/packing.h"
#include "file/inode/file_system.h"
#include "pool/core/pool.h"

namespace cairn::checkpoint {

// Returns the bytes of a node: its ranks' regions with their lists. Counted variables take more, a
// different amount in each version.
uint64_t bytes_of_version(const Regions& regions, uint64_t block_bytes);
// Returns the bytes that a rank would store of its definitions with `added` under this name. A
// version takes more.
uint64_t bytes_of_rank(const Definitions& definitions, const std::string& name,
                       const Definition& added, uint32_t rank);

// Returns the size of the pool, its own tables included. Checks whether it has grown.
uint64_t bytes_of_pool(const pool::Pool& pool);
// Returns ENOSPC if the pool can never hold so many bytes, which `what` needs; the text has both
// sizes.
Status check_space(const pool::Pool& pool, uint64_t bytes, const std::string& what);
// The needs of a program that writes checkpoints in a loop.
struct LoopNeeds {
  uint64_t bytes = 0;                 // of a version on this node
  uint32_t ranks = 0;                 // of this node
  uint32_t keep = 0;                  // versions that stay while another one is written
  bool copies_in_background = false;  // one version more may still be on its way to lower
};
// Leaves a warning as the text of the last error if the pool has no room for them. `variable`: the
// name of the one that is defined.
void warn_of_space(const pool::Pool& pool, const std::string& variable, const LoopNeeds& needs);
// Returns the space that a version takes of this node's pool and the space that the pool has, for
// the text of ENOSPC. `has_counted`: it takes more, which each rank counts.
std::string shown_space(file::FileSystem& fs, uint64_t bytes, bool has_counted, uint32_t keep);
// Returns a size as text: "1.5 MiB".
std::string shown_bytes(uint64_t bytes);

}  // namespace cairn::checkpoint
