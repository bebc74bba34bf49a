// Process limits: the limits of this process on a pool, whatever the machine has.
#pragma once

#include <cstdint>
#include <string>

#include "media/file_system.h"

namespace cairn::media {

struct ProcessLimit {
  uint64_t bytes = UINT64_MAX;
  std::string name;  // for people: "the address space (ulimit -v)"; "" if there is none
};

// Returns the address space left: a whole pool counts in each process that uses it.
ProcessLimit address_space_left(const SystemRoot& root = SystemRoot());
// Returns the largest file that this process may make: a pool has one or more.
ProcessLimit file_size_limit();

}  // namespace cairn::media
