// Packing: places the pieces of a rank in its region of a data file, and the regions in the file.
// All places follow from the layout, so no record and no message carries an offset.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "checkpoint/layout/contents.h"

namespace cairn::checkpoint {

struct Piece {
  uint32_t variable = 0;
  uint64_t offset = 0;  // from the begin of the region
  uint64_t bytes = 0;
};

// A region, or an extent of counted variables: bytes, then the list of their checksums.
struct Packed {
  std::vector<Piece> pieces;  // by offset
  uint64_t bytes = 0;         // without the list
};

// Returns the number of checksum blocks for so many bytes.
constexpr uint64_t blocks_of(uint64_t bytes, uint64_t block_bytes) {
  return bytes / block_bytes + (bytes % block_bytes != 0 ? 1 : 0);
}
// Returns the place of the list, behind the bytes.
constexpr uint64_t list_offset(uint64_t bytes) { return align(bytes, list_alignment); }
// Returns the size of the bytes together with their list.
constexpr uint64_t bytes_with_list(uint64_t bytes, uint64_t block_bytes) {
  return bytes == 0 ? 0 : list_offset(bytes) + sizeof(uint32_t) * blocks_of(bytes, block_bytes);
}

// Returns what the rank stores of the variable; 0 for counted ones. EOVERFLOW: more than a region
// has.
Result<uint64_t> stored_bytes(const Contents& contents, const Variable& variable, uint32_t rank);

// Applies rule 1 to pieces in order of the layout, behind the first `begin` bytes. EOVERFLOW: more
// than a region may have.
Result<Packed> pack(const Layout& layout, std::vector<Piece> pieces, uint64_t begin);

// Packs the region of a rank.
Result<Packed> pack_region(const Contents& contents, uint32_t rank);

struct Regions {
  std::vector<uint64_t> offset;  // in the data file, one a rank
  std::vector<uint64_t> bytes;   // without lists
  uint64_t end = 0;              // a multiple of 2 MiB: here extents begin
};
// Places the regions of a part with these ranks, which ascend. EOVERFLOW: the file would be too
// large.
Result<Regions> place_regions(const Contents& contents, const std::vector<uint32_t>& ranks);

}  // namespace cairn::checkpoint
