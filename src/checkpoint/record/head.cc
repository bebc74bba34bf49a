#include "checkpoint/record/head.h"

#include <cstring>

#include "base/crc32c_bulk.h"
#include "checkpoint/record/records.h"

namespace cairn::checkpoint {
namespace {

constexpr size_t crc_offset = offsetof(RecordHead, crc);
constexpr size_t after_crc = crc_offset + sizeof(uint32_t);

// Returns the checksum of all bytes except its own four.
uint32_t sum_of(const uint8_t* record, size_t size) {
  return crc32c_bulk(crc32c_bulk(0, record, crc_offset), record + after_crc, size - after_crc);
}

}  // namespace

void seal_record(void* record, size_t size, const char* magic) {
  auto head = record_at<RecordHead>(record);
  std::memcpy(head.magic, magic, sizeof head.magic);
  head.version = format_version;
  head.length = size;
  std::memcpy(record, &head, sizeof head);
  head.crc = sum_of(static_cast<const uint8_t*>(record), size);
  std::memcpy(record, &head, sizeof head);
}

Result<uint64_t> check_record(const uint8_t* record, size_t size, const char* magic,
                              uint64_t longest) {
  if (size < sizeof(RecordHead))
    return fail(EUCLEAN, "record: %zu bytes; its head has %zu", size, sizeof(RecordHead));
  const auto head = record_at<RecordHead>(record);
  if (std::memcmp(head.magic, magic, sizeof head.magic) != 0)
    return fail(EUCLEAN, "record: does not begin with %s", magic);
  if (head.length < sizeof head || head.length > size || head.length > longest)
    return fail(EUCLEAN, "record %s: length %llu; there are %zu bytes", magic,
                static_cast<unsigned long long>(head.length), size);
  if (sum_of(record, static_cast<size_t>(head.length)) != head.crc)
    return fail(EUCLEAN, "record %s: wrong checksum", magic);
  if (head.version == 0) return fail(EUCLEAN, "record %s: version 0", magic);
  if (head.version > format_version)
    return fail(EPROTONOSUPPORT, "record %s: version %u; this Cairn knows version %u", magic,
                head.version, format_version);
  if (head.incompatible != 0)
    return fail(EPROTONOSUPPORT, "record %s: features %#x that this Cairn does not know", magic,
                head.incompatible);
  return head.length;
}

Sha256Hash content_hash(const uint8_t* record, size_t size) {
  return sha256(record + after_crc, size - after_crc);
}

}  // namespace cairn::checkpoint
