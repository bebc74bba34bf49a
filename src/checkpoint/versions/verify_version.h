// Verifying a version: reads all its bytes and compares them with their checksums.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/store/set_file.h"
#include "checkpoint/versions/slot_cache.h"

namespace cairn::checkpoint {

struct Verified {
  uint64_t bytes = 0;  // that were read
  uint64_t blocks = 0;
  uint64_t bad_blocks = 0;  // a list that is damaged counts as all of its blocks
  std::string why;          // of the first bad one
};

// Verifies this node's part of a version, and notes in the manifest if it was found right. EUCLEAN:
// its records are damaged. ESTALE: the slot holds another version, or was retired meanwhile. Other
// errors are failures of the medium.
Result<Verified> verify_version(const SetFile& set, Slot* slot, uint64_t sequence);

}  // namespace cairn::checkpoint
