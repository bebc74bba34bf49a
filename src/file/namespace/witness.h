// Witness: identifies a file or directory in lower as the pool last saw it. A drain compares lower
// with it before it replaces, removes or trusts anything there (tier/lower/witness.h).
#pragma once

#include <array>
#include <cstdint>

#include "format/inode.h"

namespace cairn::file {

struct Witness {
  uint64_t device = 0;  // 0: that of the covered directory
  uint64_t inode = 0;   // 0: there is no file
  uint64_t size = 0;    // of a directory: the newest ctime at or below it
  uint64_t mtime = 0;   // of a directory: its owner
  // Both are 0 if not known; pools without format::feature_witness store none of them.
  uint64_t birth = 0;   // time of creation, or a number of the file's handle
  uint64_t change = 0;  // ctime of a file
  // The permissions in the pool when the file was imported or drained last (tier::noted_rights).
  uint64_t rights = 0;
};

using WitnessWords = std::array<uint64_t, format::witness_words>;

inline WitnessWords words_of(const Witness& witness) {
  return {witness.device, witness.inode,  witness.size,  witness.mtime,
          witness.birth,  witness.change, witness.rights};
}

inline Witness witness_of(const WitnessWords& words) {
  return {words[0], words[1], words[2], words[3], words[4], words[5], words[6]};
}
// Makes the witness of which a pool has the first `count` words.
inline Witness witness_of(const format::Word* words, unsigned count) {
  WitnessWords all{};
  for (unsigned i = 0; i < count; ++i) all[i] = words[i].load();
  return witness_of(all);
}

}  // namespace cairn::file
