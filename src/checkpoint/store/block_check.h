// BlockCheck: compares blocks of a region with their checksums, in place.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/store/records.h"
#include "file/open/open_file.h"

namespace cairn::checkpoint {

struct Blocks {
  uint64_t first = 0;
  uint64_t count = 0;
};

// The file that blocks are read from, in a pool or in lower.
struct CheckedFile {
  std::string name;  // for messages
  uint64_t size = 0;
  // Reads bytes. EUCLEAN: the file ends before.
  std::function<Status(void* bytes, uint64_t size, uint64_t offset)> read;
};
CheckedFile in_pool(file::File& file, const std::string& name);

// Reads the list of a region or extent, checked by the root's `crc`. EUCLEAN: it differs, or is cut
// off.
Result<std::vector<uint32_t>> read_list(const CheckedFile& data, uint64_t offset, uint64_t bytes,
                                        uint64_t block_bytes, uint32_t crc, uint32_t rank);

// Checks blocks. EUCLEAN: a block differs; the text names it. EIO and other errors of the medium.
Status check_blocks(const CheckedFile& data, uint64_t offset, uint64_t bytes, uint64_t block_bytes,
                    const std::vector<uint32_t>& list, const std::vector<Blocks>& blocks,
                    uint32_t rank);

}  // namespace cairn::checkpoint
