// New files of a set: a name appears when the file is complete and durable. A process that is
// killed before that leaves nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file/open/open_file.h"

namespace cairn::checkpoint {

struct NewFile {
  std::vector<uint8_t> bytes;  // at its begin; zeros behind them
  uint64_t size = 0;           // of the file, at least that of the bytes
  bool is_allocated = false;   // has all its blocks
};

// Creates a file. EEXIST: the name is there. ENOSPC.
Status publish_file(file::FileSystem& fs, uint64_t directory, const std::string& name,
                    const NewFile& what);

// Returns the first `most` bytes of a file, or all of a shorter one.
Result<std::vector<uint8_t>> read_begin(file::File& file, uint64_t most);

}  // namespace cairn::checkpoint
