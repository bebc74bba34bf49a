// LowerPartReader: a part of a version, read from its copy in lower.
#pragma once

#include <memory>

#include "checkpoint/sources/lower_source.h"
#include "checkpoint/sources/part_reader.h"

namespace cairn::checkpoint {

// Makes a reader; `source` stays. An error of lower's file system counts as damage of the copy.
std::unique_ptr<PartReader> read_lower(LowerSource* source, const VersionRecord& version,
                                       uint32_t part, uint64_t block_bytes);

}  // namespace cairn::checkpoint
