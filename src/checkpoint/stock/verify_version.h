// Verifying a version: all its bytes are read and compared with their checksums, whoever needs
// them.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/stock/shelf.h"
#include "checkpoint/store/set_file.h"

namespace cairn::checkpoint {

struct Verified {
  uint64_t bytes = 0;  // that were read
  uint64_t blocks = 0;
  uint64_t bad_blocks = 0;  // a list that is damaged counts as all of its blocks
  std::string why;          // of the first bad one
};

// This node's part of a version. Notes in the manifest when all was found right. EUCLEAN: its
// records are damaged. ESTALE: the slot holds another version, or was retired meanwhile. Others are
// failures of the medium.
Result<Verified> verify_version(const SetFile& set, Slot* slot, uint64_t sequence);

}  // namespace cairn::checkpoint
