#include "checkpoint/layout/packing.h"

#include <algorithm>

#include "checkpoint/record/text.h"

namespace cairn::checkpoint {
namespace {

Status too_large(const char* what, uint64_t bytes, uint64_t most) {
  return fail(EOVERFLOW, "%s: %llu bytes; at most %llu", what,
              static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(most));
}

constexpr uint64_t small_alignment = 16;

}  // namespace

Result<uint64_t> stored_bytes(const Contents& contents, const Variable& variable, uint32_t rank) {
  const uint64_t elements = contents.decomposition_of(variable).elements_of(rank);
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements, variable.element_size, &bytes) || bytes > max_region)
    return annotate(too_large("its array on one rank", bytes, max_region), "variable '%s'",
                    shown_text(variable.name).c_str());
  return bytes;
}

Result<Packed> pack(const Layout& layout, std::vector<Piece> pieces, uint64_t begin) {
  const uint64_t limit = layout.pack_limit();
  const auto is_small = [&](const Piece& piece) { return piece.bytes <= limit; };
  std::erase_if(pieces, [](const Piece& piece) { return piece.bytes == 0; });
  std::stable_partition(pieces.begin(), pieces.end(), is_small);
  uint64_t position = begin;
  for (Piece& piece : pieces) {
    // Both numbers are at most 2^46.
    position = align(position, is_small(piece) ? small_alignment : layout.alignment());
    piece.offset = position;
    position += piece.bytes;
    if (position > max_region) return too_large("a rank's bytes", position, max_region);
  }
  return Packed{std::move(pieces), position};
}

Result<Packed> pack_region(const Contents& contents, uint32_t rank) {
  std::vector<Piece> pieces;
  for (uint32_t i = 0; i < contents.layout().variables(); ++i) {
    CAIRN_TRY_ASSIGN(bytes, stored_bytes(contents, contents.layout().variable(i), rank));
    pieces.push_back({i, 0, bytes});
  }
  return pack(contents.layout(), std::move(pieces), 0);
}

Result<Regions> place_regions(const Contents& contents, const std::vector<uint32_t>& ranks) {
  Regions regions;
  uint64_t position = region_unit;  // the first 2 MiB are a hole
  for (const uint32_t rank : ranks) {
    CAIRN_TRY_ASSIGN(packed, pack_region(contents, rank));
    regions.offset.push_back(position);
    regions.bytes.push_back(packed.bytes);
    position = align(position + bytes_with_list(packed.bytes, contents.layout().block_bytes()),
                     region_unit);
    if (position > max_data_file) return too_large("data of a part", position, max_data_file);
  }
  regions.end = position;
  return regions;
}

}  // namespace cairn::checkpoint
