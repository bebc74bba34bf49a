#include "checkpoint/store/block_check.h"

#include <algorithm>

#include "base/crc32c_bulk.h"
#include "checkpoint/layout/checksum_list.h"
#include "file/data/io.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t read_at_once = uint64_t{64} << 10;

Status read_exactly(file::File& file, void* bytes, uint64_t size, uint64_t offset,
                    const std::string& name) {
  CAIRN_TRY_ASSIGN(read, file::read_at(file, bytes, static_cast<size_t>(size), offset));
  if (read == size) return Status();
  const unsigned long long end = offset + read;
  return fail(EUCLEAN, "%s: cut off at offset %llu", name.c_str(), end);
}

}  // namespace

CheckedFile in_pool(file::File& file, const std::string& name) {
  return {name, file.inode->size.load(),
          [&file, name](void* bytes, uint64_t size, uint64_t offset) {
            return read_exactly(file, bytes, size, offset, name);
          }};
}

Result<std::vector<uint32_t>> read_list(const CheckedFile& data, uint64_t offset, uint64_t bytes,
                                        uint64_t block_bytes, uint32_t crc, uint32_t rank) {
  // These numbers are not trusted: the list may not be larger than the file.
  const uint64_t size = data.size;
  if (offset > size || bytes > size - offset ||
      list_offset(bytes) + blocks_of(bytes, block_bytes) * sizeof(uint32_t) > size - offset)
    return fail(EUCLEAN, "%s: cut off before the checksums of rank %u", data.name.c_str(), rank);
  std::vector<uint32_t> list(static_cast<size_t>(blocks_of(bytes, block_bytes)));
  CAIRN_TRY(data.read(list.data(), list.size() * sizeof(uint32_t), offset + list_offset(bytes)));
  if (crc_of_list(list) != crc)
    return fail(EUCLEAN, "%s: the checksums of rank %u's bytes differ from their own checksum",
                data.name.c_str(), rank);
  return list;
}

Status check_blocks(const CheckedFile& data, uint64_t offset, uint64_t bytes, uint64_t block_bytes,
                    const std::vector<uint32_t>& list, const std::vector<Blocks>& blocks,
                    uint32_t rank) {
  std::vector<uint8_t> buffer(static_cast<size_t>(read_at_once));
  for (const Blocks& range : blocks) {
    for (uint64_t i = range.first; i < range.first + range.count && i < list.size(); ++i) {
      const uint64_t begin = i * block_bytes;
      const uint64_t end = std::min(begin + block_bytes, bytes);
      uint32_t crc = 0;
      for (uint64_t at = begin; at < end; at += read_at_once) {
        const uint64_t n = std::min(read_at_once, end - at);
        CAIRN_TRY(data.read(buffer.data(), n, offset + at));
        crc = crc32c_bulk(crc, buffer.data(), static_cast<size_t>(n));
      }
      if (crc != list[static_cast<size_t>(i)])
        return fail(EUCLEAN, "%s: bytes of rank %u differ from their checksum: block %llu of %zu",
                    data.name.c_str(), rank, static_cast<unsigned long long>(i), list.size());
    }
  }
  return Status();
}

}  // namespace cairn::checkpoint
