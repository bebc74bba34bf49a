// FallbackPart: reads a part that exists twice, block by block.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/sources/part_reader.h"

namespace cairn::checkpoint {

// Reads a block of `second` if that block is damaged in `first`; each block is verified by itself.
// `why`: the fault of the first damaged block.
std::unique_ptr<PartReader> read_with_fallback(std::unique_ptr<PartReader> first,
                                               std::unique_ptr<PartReader> second,
                                               uint64_t block_bytes, std::string* why);

}  // namespace cairn::checkpoint
