// Dax devices as sysfs shows them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/status.h"
#include "media/file_system.h"

namespace cairn::media {

struct DaxDevice {
  std::string name;            // "dax0.0"
  uint64_t size = 0;           // bytes
  uint64_t align = 0;          // bytes; no mapping may be smaller
  bool cache_is_safe = false;  // eADR: stores survive power loss without a flush
};

// Inspects the character device `number`. ENODEV if it is not a dax device, or in a mode that
// cannot be mapped (the text has the mode and the command that changes it).
Result<DaxDevice> inspect_dax(dev_t number, const char* path, const SystemRoot& root);

// Returns the error for a block device that was given as a pool's place.
Status refuse_block_device(dev_t number, const char* path, const SystemRoot& root);

}  // namespace cairn::media
