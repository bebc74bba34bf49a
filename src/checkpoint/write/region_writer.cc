#include "checkpoint/write/region_writer.h"

#include <algorithm>
#include <cstring>

#include "checkpoint/record/text.h"
#include "checkpoint/store/manifest.h"
#include "file/data/bulk_write.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t buffer_bytes = uint64_t{64} << 10;
constexpr uint64_t copied_at_once = uint64_t{64} << 10;
constexpr uint64_t long_run = uint64_t{16} << 10;  // copied without the buffer
constexpr uint64_t padded_unit = 16;               // divides the sizes of elements with padding

}  // namespace

RegionWriter::RegionWriter(file::File& data, uint64_t offset, uint64_t block_bytes)
    : data_(data), offset_(offset), sums_(block_bytes), buffer_(new uint8_t[buffer_bytes]) {}

// Computes checksums first, which brings the bytes into the cache, and copies from there.
Status RegionWriter::write(const uint8_t* bytes, uint64_t size) {
  while (size != 0) {
    const uint64_t n = std::min(size, copied_at_once);
    const uint64_t at = sums_.position();
    sums_.add(bytes, n);
    CAIRN_TRY(file::write_bulk(data_, bytes, static_cast<size_t>(n), offset_ + at));
    bytes += n;
    size -= n;
  }
  return Status();
}

Status RegionWriter::flush() {
  const uint64_t size = held_;
  held_ = 0;
  return write(buffer_.get(), size);
}

Status RegionWriter::fill_to(uint64_t position) {
  while (position_ < position) {
    if (held_ == buffer_bytes) CAIRN_TRY(flush());
    const uint64_t n = std::min(position - position_, buffer_bytes - held_);
    std::memset(buffer_.get() + held_, 0, static_cast<size_t>(n));
    held_ += n;
    position_ += n;
  }
  return Status();
}

Status RegionWriter::add_bytes(const uint8_t* bytes, uint64_t size) {
  position_ += size;
  if (size >= long_run) {
    CAIRN_TRY(flush());
    return write(bytes, size);
  }
  while (size != 0) {
    if (held_ == buffer_bytes) CAIRN_TRY(flush());
    const uint64_t n = std::min(size, buffer_bytes - held_);
    std::memcpy(buffer_.get() + held_, bytes, static_cast<size_t>(n));
    held_ += n;
    bytes += n;
    size -= n;
  }
  return Status();
}

// Clears the padding of elements, which carries no value and differs between ranks and runs.
Status RegionWriter::add_padded(Type type, const uint8_t* elements, uint64_t size) {
  position_ += size;
  while (size != 0) {
    if (buffer_bytes - held_ < padded_unit) CAIRN_TRY(flush());
    const uint64_t n = std::min(size, (buffer_bytes - held_) / padded_unit * padded_unit);
    std::memcpy(buffer_.get() + held_, elements, static_cast<size_t>(n));
    clear_padding(type, buffer_.get() + held_, n);
    held_ += n;
    elements += n;
    size -= n;
  }
  return Status();
}

Status RegionWriter::add(const ArrayPlace& array, const Order& order) {
  const Type type = array.view.type();
  const bool is_padded = traits_of(type)->is_padded;
  Runs runs = array.view.inner(order);
  Runs::Run run;
  while (runs.next(&run)) {
    const uint8_t* const from = array.base + run.offset;
    CAIRN_TRY(is_padded ? add_padded(type, from, run.size) : add_bytes(from, run.size));
  }
  return Status();
}

Result<uint32_t> RegionWriter::finish() {
  CAIRN_TRY(flush());
  const std::vector<uint32_t> list = sums_.finish();
  CAIRN_TRY(file::write_bulk(data_, list.data(), list.size() * sizeof(uint32_t),
                             offset_ + list_offset(position_)));
  return crc_of_list(list);
}

Result<RootRecord> write_region(file::File& data, uint64_t offset, const Contents& contents,
                                const Packed& packed,
                                const std::vector<const Definition*>& variables,
                                const SeeArray& see) {
  RootRecord root{};
  root.region_offset = offset;
  root.region_bytes = packed.bytes;
  if (packed.bytes == 0) return root;
  RegionWriter writer(data, offset, contents.layout().block_bytes());
  for (const Piece& piece : packed.pieces) {
    const Variable variable = contents.layout().variable(piece.variable);
    CAIRN_TRY(writer.fill_to(piece.offset));
    Status status;
    const auto array = variables[piece.variable]->find(ArrayUse::to_write);
    status = array.ok() ? writer.add(*array, variable.order) : array.status();
    if (!status.ok()) return annotate(status, "variable '%s'", shown_text(variable.name).c_str());
    if (writer.position() != piece.offset + piece.bytes)
      return fail(EINVAL, "variable '%s': has another size than was agreed",
                  shown_text(variable.name).c_str());
    see(piece.variable, *array);
  }
  CAIRN_TRY_ASSIGN(crc, writer.finish());
  root.region_list_crc = crc;
  return root;
}

}  // namespace cairn::checkpoint
