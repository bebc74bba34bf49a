#include "checkpoint/layout/checksum_list.h"

#include <algorithm>
#include <array>

#include "base/crc32c_bulk.h"

namespace cairn::checkpoint {

void ChecksumWriter::add(const void* bytes, uint64_t size) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  while (size != 0) {
    const uint64_t n = std::min(size, block_bytes_ - position_ % block_bytes_);
    crc_ = crc32c_bulk(crc_, from, static_cast<size_t>(n));
    from += n;
    size -= n;
    position_ += n;
    if (position_ % block_bytes_ == 0) {
      list_.push_back(crc_);
      crc_ = 0;
    }
  }
}

void ChecksumWriter::add_zeros(uint64_t size) {
  static constexpr std::array<uint8_t, 4096> zeros{};
  for (; size > zeros.size(); size -= zeros.size()) add(zeros.data(), zeros.size());
  add(zeros.data(), size);
}

std::vector<uint32_t> ChecksumWriter::finish() {
  if (position_ % block_bytes_ != 0) list_.push_back(crc_);
  return std::move(list_);
}

uint32_t crc_of_list(const std::vector<uint32_t>& list) {
  return crc32c_bulk(0, list.data(), list.size() * sizeof(uint32_t));
}

BlockRange blocks_around(uint64_t offset, uint64_t size, uint64_t total, uint64_t block_bytes) {
  BlockRange range;
  range.first = offset / block_bytes;
  range.count = (offset + size - 1) / block_bytes - range.first + 1;
  range.offset = range.first * block_bytes;
  range.bytes = std::min(total, range.offset + range.count * block_bytes) - range.offset;
  return range;
}

uint64_t first_bad_block(const std::vector<uint32_t>& list, const BlockRange& range,
                         const uint8_t* bytes, uint64_t block_bytes) {
  for (uint64_t i = 0; i < range.count; ++i) {
    const uint64_t at = i * block_bytes;
    const auto n = static_cast<size_t>(std::min(block_bytes, range.bytes - at));
    const uint64_t block = range.first + i;
    if (block >= list.size() || crc32c_bulk(0, bytes + at, n) != list[static_cast<size_t>(block)])
      return block;
  }
  return range.first + range.count;
}

}  // namespace cairn::checkpoint
