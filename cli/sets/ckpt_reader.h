// CkptReader: the elements of a version's variables, slab by slab, verified.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sets/ckpt_set.h"
#include "sets/slabs.h"

namespace cairn::cli {

class CkptReader {
 public:
  // `version` as of CkptSet::version().
  CkptReader(const CkptSet& set, int64_t version) : set_(set), version_(version) {}

  // Calls visit(slab, elements) in the order of the array, slowest dimension first, until it
  // returns false. Throws if bytes are damaged.
  void for_each_slab(const CkptVariable& variable,
                     const std::function<bool(const Slab& slab, const uint8_t* elements)>& visit);
  // Elements of one slab.
  void read(const CkptVariable& variable, const Slab& slab, uint8_t* elements) const;

  // No slab is larger, in bytes, unless one element is.
  static constexpr uint64_t most_bytes = uint64_t{32} << 20;

 private:
  const CkptSet& set_;
  int64_t version_;
  std::vector<uint8_t> buffer_;
};

}  // namespace cairn::cli
