// SpaceCheck: computes the space that a version needs, and the space of the pool.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/define/definitions.h"
#include "checkpoint/layout/packing.h"
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
// Returns a size as text: "1.5 MiB".
std::string shown_bytes(uint64_t bytes);

}  // namespace cairn::checkpoint
