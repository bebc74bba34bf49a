// Known: where a covered directory lies, and what holds for the files in it.
#pragma once

#include <cstdint>
#include <string>

namespace cairn::tier {

// A cover, as this process knows it. Kept until the pool is detached.
struct Known {
  std::string path;
  uint64_t top = 0;
  uint64_t generation = 0;  // of the inode `top`
  uint64_t device = 0;      // of the covered directory
  bool keeps_birth = true;  // sys::keeps_birth() there
  Known* next = nullptr;
};

}  // namespace cairn::tier
