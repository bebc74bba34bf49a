// Directory: decodes what a rank stored of counted variables, for Counted. Arithmetic without a
// pool.
#pragma once

#include <vector>

#include "checkpoint/layout/contents.h"
#include "checkpoint/store/records.h"

namespace cairn::checkpoint {

using Directory = std::vector<DirectoryRecord>;

// Returns the size of the directory at the begin of each extent.
uint64_t directory_bytes(const Contents& contents);

// Decodes a directory. `bytes`: directory_bytes() of the rank's extent, which has `extent_bytes`.
// EUCLEAN: an entry names another variable, or a place that the packing rule does not allow. A
// variable without elements has an offset without meaning.
Result<Directory> read_directory(const Contents& contents, const std::vector<uint8_t>& bytes,
                                 uint64_t extent_bytes, uint32_t rank);

}  // namespace cairn::checkpoint
