// read_directory() says what a rank stored of counted variables, for Counted: arithmetic without a
// pool.
#pragma once

#include <vector>

#include "checkpoint/layout/contents.h"
#include "checkpoint/store/records.h"

namespace cairn::checkpoint {

using Directory = std::vector<DirectoryRecord>;

// Bytes of the directory with which each extent begins.
uint64_t directory_bytes(const Contents& contents);

// `bytes`: that many, of the extent of this rank, which has `extent_bytes`. EUCLEAN: an entry is of
// another variable, or lies where the packing rule does not put it. What a rank has none of has an
// offset that means nothing.
Result<Directory> read_directory(const Contents& contents, const std::vector<uint8_t>& bytes,
                                 uint64_t extent_bytes, uint32_t rank);

}  // namespace cairn::checkpoint
