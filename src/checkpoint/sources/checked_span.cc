#include "checkpoint/sources/checked_span.h"

#include <algorithm>

#include "base/crc32c_bulk.h"
#include "checkpoint/layout/checksum_list.h"

namespace cairn::checkpoint {

std::vector<Span> spans_of(const Manifest& manifest) {
  std::vector<Span> spans;
  for (uint32_t i = 0; i < manifest.version().part_ranks; ++i) {
    const RootRecord root = manifest.root(i);
    if (root.region_bytes != 0)
      spans.push_back({root.region_offset, root.region_bytes, root.region_list_crc});
    if (root.extent_bytes != 0)
      spans.push_back({root.extent_offset, root.extent_bytes, root.extent_list_crc});
  }
  return spans;
}

Status pass(const Span& span, uint64_t block_bytes, const SpanReader& read, const SpanWriter& write,
            std::vector<uint8_t>* buffer, Stop stop) {
  std::vector<uint32_t> list(static_cast<size_t>(blocks_of(span.bytes, block_bytes)));
  const uint64_t list_at = span.offset + list_offset(span.bytes);
  CAIRN_TRY(read(list.data(), list.size() * sizeof(uint32_t), list_at));
  if (crc_of_list(list) != span.list_crc)
    return fail(EUCLEAN, "the checksums at %llu differ from their own checksum",
                static_cast<unsigned long long>(list_at));
  buffer->resize(std::max<size_t>(buffer->size(), static_cast<size_t>(block_bytes)));
  for (size_t i = 0; i < list.size(); ++i) {
    if (is_stopped(stop)) return fail(ECANCELED, "the copy was given up");
    const uint64_t at = i * block_bytes;
    const uint64_t n = std::min(block_bytes, span.bytes - at);
    CAIRN_TRY(read(buffer->data(), n, span.offset + at));
    if (crc32c_bulk(0, buffer->data(), static_cast<size_t>(n)) != list[i])
      return fail(EUCLEAN, "bytes at %llu differ from their checksum",
                  static_cast<unsigned long long>(span.offset + at));
    if (write) CAIRN_TRY(write(buffer->data(), n, span.offset + at));
  }
  return write ? write(list.data(), list.size() * sizeof(uint32_t), list_at) : Status();
}

}  // namespace cairn::checkpoint
