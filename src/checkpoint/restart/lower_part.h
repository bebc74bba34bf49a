// LowerPartReader: a part of a version, read from its copy in lower.
#pragma once

#include <memory>

#include "checkpoint/redundancy/lower_source.h"
#include "checkpoint/restart/part_reader.h"

namespace cairn::checkpoint {

// `source` stays. An error of lower's file system counts as damage of the copy.
std::unique_ptr<PartReader> read_lower(LowerSource* source, const VersionRecord& version,
                                       uint32_t part, uint64_t block_bytes);

}  // namespace cairn::checkpoint
