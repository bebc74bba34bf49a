// Room: what a version takes of a pool, and what the pool has.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/define/definitions.h"
#include "checkpoint/layout/packing.h"
#include "pool/core/pool.h"

namespace cairn::checkpoint {

// Of a node: its ranks' regions with their lists. Counted variables take more, in each version
// another amount.
uint64_t bytes_of_version(const Regions& regions, uint64_t block_bytes);
// Of a rank: what it would store of its definitions with `added` under this name. Less than the
// version takes.
uint64_t bytes_of_rank(const Definitions& definitions, const std::string& name,
                       const Definition& added, uint32_t rank);

// All that the pool has, its own tables included. Looks whether it has grown.
uint64_t bytes_of_pool(const pool::Pool& pool);
// ENOSPC: the pool can never hold so many bytes; the text says both sizes. `what` takes them.
Status check_room(const pool::Pool& pool, uint64_t bytes, const std::string& what);
// "1.5 MiB"
std::string shown_bytes(uint64_t bytes);

}  // namespace cairn::checkpoint
