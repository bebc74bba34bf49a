#include "checkpoint/restart/copy_out.h"

#include <algorithm>
#include <cstring>

namespace cairn::checkpoint {
namespace {

constexpr uint64_t most_window = uint64_t{64} << 10;
constexpr uint64_t least_window = 4096;
constexpr uint64_t near = 16384;     // a gap that is read along
constexpr uint64_t long_run = 8192;  // read straight into the array

}  // namespace

CopyOut::CopyOut(StoredVersion* stored)
    : stored_(*stored), window_wanted_(least_window), buffer_(new uint8_t[most_window]) {}

Status CopyOut::set_source(const Area& area) {
  if (reader_ != nullptr && area.rank == area_.rank && area.is_extent == area_.is_extent)
    return Status();
  CAIRN_TRY_ASSIGN(reader, stored_.reader_of(area.rank));
  reader_ = reader;
  area_ = area;
  window_bytes_ = 0;
  return Status();
}

Status CopyOut::read(uint64_t offset, uint8_t* to, uint64_t size) {
  return reader_->read(area_, offset, to, size);
}

// Takes short runs that follow each other closely from a window, which grows while they do.
Status CopyOut::take(uint64_t offset, uint8_t* to, uint64_t size) {
  if (size >= long_run) return read(offset, to, size);
  while (size != 0) {
    const uint64_t end = window_ + window_bytes_;
    if (offset < window_ || offset >= end) {
      const bool is_near = offset >= end && offset - end < near;
      window_wanted_ = is_near ? std::min(2 * window_wanted_, most_window) : least_window;
      const uint64_t area_end = area_.bytes;
      if (offset >= area_end) return fail(EIO, "cut off while it was read");
      window_bytes_ = 0;
      const uint64_t n = std::min(std::max(window_wanted_, size), area_end - offset);
      CAIRN_TRY(read(offset, buffer_.get(), n));
      window_ = offset;
      window_bytes_ = n;
    }
    const uint64_t n = std::min(size, window_ + window_bytes_ - offset);
    std::memcpy(to, buffer_.get() + (offset - window_), static_cast<size_t>(n));
    offset += n;
    to += n;
    size -= n;
  }
  return Status();
}

Status CopyOut::copy(uint32_t index, const Section& wanted, const ArrayPlace& array) {
  const Variable variable = stored_.contents().layout().variable(index);
  for (const uint32_t rank : stored_.contents().decomposition_of(variable).holders_of(wanted))
    CAIRN_TRY(copy_part(variable, index, rank, wanted, array));
  return Status();
}

Status CopyOut::copy_part(const Variable& variable, uint32_t index, uint32_t rank,
                          const Section& wanted, const ArrayPlace& array) {
  CAIRN_TRY_ASSIGN(piece, stored_.piece_of(rank, index));
  if (!piece) return fail(EUCLEAN, "rank %u stores no part of a variable that it has", rank);
  CAIRN_TRY_ASSIGN(area, stored_.region_of(rank));
  CAIRN_TRY(set_source(area));
  const Section stored = stored_.contents().decomposition_of(variable).section_of(rank);
  if (const auto shared = shared_box(stored, wanted))
    return copy_box(variable, piece->offset, stored, *shared, array);
  return copy_runs(variable, piece->offset,
                   SharedRuns(stored, wanted, variable.order, array.view.strides()), array);
}

Status CopyOut::copy_runs(const Variable& variable, uint64_t begin, SharedRuns runs,
                          const ArrayPlace& array) {
  const uint64_t unit = variable.element_size;
  const int64_t step = array.view.strides()[variable.order[variable.dimensions - 1]];
  const bool is_contiguous = step == static_cast<int64_t>(unit);
  uint8_t* const first = array.base + array.view.first();
  SharedRuns::Run run;
  while (runs.next(&run)) {
    const uint64_t at = begin + run.from * unit;
    if (is_contiguous) {
      CAIRN_TRY(take(at, first + run.to, run.count * unit));
      continue;
    }
    for (uint64_t i = 0; i < run.count; ++i)
      CAIRN_TRY(take(at + i * unit, first + run.to + static_cast<int64_t>(i) * step, unit));
  }
  return Status();
}

Status CopyOut::copy_box(const Variable& variable, uint64_t begin, const Section& stored,
                         const SharedBox& shared, const ArrayPlace& array) {
  Runs from = runs_in(whole_of(stored.dimensions, stored.counts()), shared.stored, variable.order);
  Runs to = array.view.part(shared.wanted, shared.stored.count, variable.order);
  // Both walk the same elements; their runs have different lengths.
  const uint64_t unit = variable.element_size;
  Runs::Run source;
  Runs::Run target;
  uint64_t source_left = 0;
  uint64_t target_left = 0;
  uint64_t at = 0;
  uint8_t* place = nullptr;
  for (;;) {
    if (source_left == 0) {
      if (!from.next(&source)) return Status();
      at = begin + static_cast<uint64_t>(source.offset) * unit;
      source_left = source.size * unit;
    }
    if (target_left == 0) {
      if (!to.next(&target)) return Status();
      place = array.base + target.offset;
      target_left = target.size;
    }
    const uint64_t n = std::min(source_left, target_left);
    CAIRN_TRY(take(at, place, n));
    at += n;
    place += n;
    source_left -= n;
    target_left -= n;
  }
}

void fill_with(const ArrayPlace& array, const std::vector<uint8_t>& element) {
  Runs runs = array.view.inner(array.view.order());
  Runs::Run run;
  while (runs.next(&run))
    for (uint64_t at = 0; at < run.size; at += element.size())
      std::memcpy(array.base + run.offset + at, element.data(), element.size());
}

}  // namespace cairn::checkpoint
