#include "checkpoint/restart/integer_reader.h"

#include <algorithm>

#include "checkpoint/layout/checksum_list.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t most_held = uint64_t{64} << 10;

// Returns the reader of the area once the bytes have been verified.
Result<PartReader*> verify(StoredVersion* stored, const Area& area, uint64_t at, uint64_t bytes) {
  if (at > area.bytes || bytes > area.bytes - at)
    return fail(EUCLEAN, "bytes of rank %u lie beyond its area", area.rank);
  CAIRN_TRY_ASSIGN(reader, stored->reader_of(area.rank));
  if (bytes == 0) return reader;
  const BlockRange range =
      blocks_around(at, bytes, area.bytes, stored->contents().layout().block_bytes());
  CAIRN_TRY(reader->verify(area, {{range.first, range.count}}));
  return reader;
}

}  // namespace

Result<IntegerReader> IntegerReader::open(StoredVersion* stored, const Area& area, uint64_t at,
                                          uint64_t bytes, const Variable& variable) {
  if (!is_integer(variable.type) || bytes % variable.element_size != 0)
    return fail(EUCLEAN, "rank %u: its counts or cells are not integers", area.rank);
  CAIRN_TRY_ASSIGN(reader, verify(stored, area, at, bytes));
  return IntegerReader(reader, area, at, bytes, variable);
}

Result<uint64_t> IntegerReader::next() {
  if (next_ == held_.size()) {
    held_.resize(static_cast<size_t>(std::min(most_held, end_ - at_)));
    CAIRN_TRY(reader_->read(area_, at_, held_.data(), held_.size()));
    next_ = 0;
  }
  const uint64_t value = integer_at(held_.data() + next_, type_);
  next_ += static_cast<size_t>(size_);
  at_ += size_;
  return value;
}

Result<std::vector<uint8_t>> read_verified(StoredVersion* stored, const Area& area, uint64_t at,
                                           uint64_t bytes) {
  CAIRN_TRY_ASSIGN(reader, verify(stored, area, at, bytes));
  std::vector<uint8_t> read(static_cast<size_t>(bytes));
  if (bytes != 0) CAIRN_TRY(reader->read(area, at, read.data(), bytes));
  return read;
}

}  // namespace cairn::checkpoint
