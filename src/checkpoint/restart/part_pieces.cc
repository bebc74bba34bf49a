#include "checkpoint/restart/part_pieces.h"

#include "checkpoint/array/box_set.h"

namespace cairn::checkpoint {
namespace {

// The number of a rank's blocks of one array above which their list would not fit into memory.
constexpr uint64_t most_blocks = uint64_t{1} << 22;

// Returns the elements of a rank that count.
Result<std::vector<Box>> own_pieces(const Decomposition& decomposition, uint32_t rank) {
  // An empty list of boxes also stands for a scalar.
  if (decomposition.elements_of(rank) == 0) return std::vector<Box>();
  const Section own = decomposition.section_of(rank);
  CAIRN_TRY_ASSIGN(pieces, boxes_of(own, most_blocks));
  if (decomposition.owner() == Owner::nobody) return pieces;
  // This rank has all elements of `own`; the other holders count before it.
  for (const uint32_t other : decomposition.holders_of(own)) {
    if (other == rank) continue;
    CAIRN_TRY_ASSIGN(boxes, boxes_of(decomposition.section_of(other), most_blocks));
    for (const Box& box : boxes) subtract(&pieces, box);
  }
  return pieces;
}

}  // namespace

Result<std::vector<Box>> part_pieces(StoredVersion* stored, uint32_t variable, uint32_t part) {
  const Decomposition& decomposition =
      stored->contents().decomposition_of(stored->contents().layout().variable(variable));
  CAIRN_TRY_ASSIGN(ranks, stored->ranks_of(part));
  std::vector<Box> pieces;
  for (const uint32_t rank : ranks) {
    CAIRN_TRY_ASSIGN(own, own_pieces(decomposition, rank));
    join(&own);
    pieces.insert(pieces.end(), own.begin(), own.end());
  }
  // Overlapping boxes are not joined, so that a piece stays in its rank's box and a read of it
  // needs no other rank.
  if (decomposition.owner() == Owner::nobody) join(&pieces);
  return pieces;
}

}  // namespace cairn::checkpoint
