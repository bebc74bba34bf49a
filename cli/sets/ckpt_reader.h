// CkptReader: the elements of a version's variables, slab by slab, verified.
#pragma once

#include <cairn/checkpoint.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "sets/ckpt_set.h"
#include "sets/slabs.h"

namespace cairn::cli {

class CkptReader {
 public:
  // `version`: a number that CkptSet::version() takes.
  CkptReader(const CkptSet& set, int64_t version) : set_(set), version_(version) {}

  // Calls visit(slab, elements) in the order of the array, slowest dimension first, until it
  // returns false. Throws if bytes are damaged.
  void for_each_slab(const CkptVariable& variable,
                     const std::function<bool(const Slab& slab, const uint8_t* elements)>& visit);
  // Elements of one slab.
  void read(const CkptVariable& variable, const Slab& slab, uint8_t* elements) const;

  using Visit = std::function<bool(const Slab& slab, const uint8_t* elements)>;
  // Calls visit(slab, elements) for slabs of a piece of an array, none of more elements.
  void for_each_slab_of(const CkptVariable& variable, const CkptPiece& piece, const Visit& visit,
                        uint64_t most_elements = UINT64_MAX);
  // Calls visit for slabs of the elements of a rank; slab.first counts from the rank's first one.
  void for_each_slab_of_rank(const CkptVariable& variable, const CkptPiece& piece,
                             const Visit& visit);
  // Calls visit for slabs of the lists of some cells, which have so many elements.
  void for_each_slab_of_lists(const CkptVariable& variable, const Slab& cells, uint64_t elements,
                              const Visit& visit);

  // No slab is larger, in bytes, unless one element is.
  static constexpr uint64_t most_bytes = uint64_t{32} << 20;

 private:
  // Makes room for a part of the array; returns how many elements a slab has at most.
  uint64_t make_room(const CkptVariable& variable, uint64_t elements);
  [[nodiscard]] static cairn_array array_of(const CkptVariable& variable, const Slab& slab,
                                            uint8_t* elements);
  void check_read(int result) const;

  const CkptSet& set_;
  int64_t version_;
  std::vector<uint8_t> buffer_;
};

}  // namespace cairn::cli
