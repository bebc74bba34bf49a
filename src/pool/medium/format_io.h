// Writing and validating a pool's identity and its segments' headers; knows nothing about files.
#pragma once

#include <cstdint>

#include "pool/core/pool.h"

namespace cairn::pool {

// Writes the format into segments that are already mapped (files, or the simulator's memory).
Status write_format(Pool& pool, uint32_t lanes, uint64_t seed);
// Checks the identity of mapped segments and fills in the members that depend on it.
Status read_format(Pool& pool);
// Writes both superblocks, which makes the pool exist.
Status publish_identity(Pool& pool);
// Adds segment `number`, which is mapped and laid out, to the pool, and counts it.
Status publish_segment(Pool& pool, uint32_t number);
Status check_segment_header(Pool& pool, uint32_t number);
// Fills a Segment's table pointers once base and blocks are known.
void lay_out(Segment& segment, uint32_t lanes);

// Fills `words` with the boot's identity.
void read_boot_id(uint64_t words[2]);

}  // namespace cairn::pool
