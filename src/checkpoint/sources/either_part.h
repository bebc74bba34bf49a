// EitherPart: a part that is there twice, read block by block.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/sources/part_reader.h"

namespace cairn::checkpoint {

// Blocks that are damaged in `first` are verified and read in `second`, each by itself. `why`: what
// was wrong with the first of them.
std::unique_ptr<PartReader> read_either(std::unique_ptr<PartReader> first,
                                        std::unique_ptr<PartReader> second, uint64_t block_bytes,
                                        std::string* why);

}  // namespace cairn::checkpoint
