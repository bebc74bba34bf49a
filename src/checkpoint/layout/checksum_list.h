// Checksum lists: one CRC-32C for each block of a region or an extent.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "checkpoint/layout/packing.h"

namespace cairn::checkpoint {

// Computes the checksums of bytes that are added in the order in which they are written.
class ChecksumWriter {
 public:
  explicit ChecksumWriter(uint64_t block_bytes) : block_bytes_(block_bytes) {}

  void add(const void* bytes, uint64_t size);
  void add_zeros(uint64_t size);
  [[nodiscard]] uint64_t position() const { return position_; }
  // Returns the list for all bytes added; the last block may be short.
  std::vector<uint32_t> finish();

 private:
  uint64_t block_bytes_;
  uint64_t position_ = 0;
  uint32_t crc_ = 0;  // of the block that is not full yet
  std::vector<uint32_t> list_;
};

uint32_t crc_of_list(const std::vector<uint32_t>& list);

// The blocks that have bytes of [offset, offset + size), and where they lie. size > 0.
struct BlockRange {
  uint64_t first = 0;
  uint64_t count = 0;
  uint64_t offset = 0;  // of their bytes
  uint64_t bytes = 0;   // up to `total` at most
};
BlockRange blocks_around(uint64_t offset, uint64_t size, uint64_t total, uint64_t block_bytes);

// Compares the blocks of `range` with the list of the whole area. Returns the number of the first
// block that differs, or `range.first + range.count`.
uint64_t first_bad_block(const std::vector<uint32_t>& list, const BlockRange& range,
                         const uint8_t* bytes, uint64_t block_bytes);

}  // namespace cairn::checkpoint
