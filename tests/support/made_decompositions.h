// Decompositions of each kind for the unit tests of checkpoint.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/array/darray.h"
#include "checkpoint/array/decomposition.h"

namespace cairn::checkpoint {

inline Result<Decomposition> make_replicated(uint32_t ranks, const Box& whole) {
  DistributedArray array;
  array.whole = whole;
  return Decomposition::make(array, ranks, {});
}

inline Result<Decomposition> make_counted(DecompositionKind kind, uint32_t ranks) {
  DistributedArray array;
  array.kind = kind;
  return Decomposition::make(array, ranks, {});
}

// `entries` come from append_box(), by ascending rank, none of them empty.
inline Result<Decomposition> make_boxes(uint32_t ranks, const Box& whole, Owner owner,
                                        const std::vector<uint8_t>& entries) {
  DistributedArray array;
  array.kind = DecompositionKind::boxes;
  array.owner = owner;
  array.whole = whole;
  return Decomposition::make(array, ranks, entries);
}

inline Result<Decomposition> make_darray(uint32_t ranks, const Box& whole, const Darray& darray) {
  DistributedArray array;
  array.kind = DecompositionKind::darray;
  array.whole = whole;
  array.arguments = encode_arguments(darray);
  return Decomposition::make(array, ranks, {});
}

}  // namespace cairn::checkpoint
