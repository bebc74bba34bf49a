#include "checkpoint/restart/needed_blocks.h"

#include <algorithm>

namespace cairn::checkpoint {

Status NeededBlocks::add(uint32_t variable, const Box& wanted) {
  if (is_empty(wanted)) return Status();
  const Variable stored = stored_.contents().layout().variable(variable);
  Status status;
  for_each_stored_part(stored_.contents().decomposition_of(stored), wanted,
                       [&](uint32_t rank, const Box& part) {
                         if (status.ok()) status = add_part(variable, rank, part);
                       });
  return status;
}

Status NeededBlocks::add_part(uint32_t variable, uint32_t rank, const Box& part) {
  CAIRN_TRY_ASSIGN(piece, stored_.piece_of(rank, variable));
  if (!piece) return fail(EUCLEAN, "rank %u stores no part of a variable that it has", rank);
  const Variable stored = stored_.contents().layout().variable(variable);
  const Box whole = stored_.contents().decomposition_of(stored).box_of(rank);
  CAIRN_TRY_ASSIGN(area, stored_.region_of(rank));
  auto& needed = needed_[rank];
  needed.resize(
      static_cast<size_t>(blocks_of(area.bytes, stored_.contents().layout().block_bytes())));
  if (part == whole) {
    mark(&needed, piece->offset, piece->bytes);
    return Status();
  }
  Runs runs = runs_in(whole, part, stored.order);
  Runs::Run run;
  while (runs.next(&run))
    mark(&needed, piece->offset + static_cast<uint64_t>(run.offset) * stored.element_size,
         run.size * stored.element_size);
  return Status();
}

void NeededBlocks::mark(std::vector<bool>* needed, uint64_t offset, uint64_t size) const {
  const uint64_t block = stored_.contents().layout().block_bytes();
  for (uint64_t i = offset / block; i <= (offset + size - 1) / block; ++i)
    (*needed)[static_cast<size_t>(i)] = true;
}

uint64_t NeededBlocks::blocks() const {
  uint64_t count = 0;
  for (const auto& [rank, needed] : needed_)
    count += static_cast<uint64_t>(std::count(needed.begin(), needed.end(), true));
  return count;
}

Status NeededBlocks::verify() {
  for (const auto& [rank, needed] : needed_) {
    CAIRN_TRY_ASSIGN(area, stored_.region_of(rank));
    CAIRN_TRY(verify_region(area, needed));
  }
  return Status();
}

Status NeededBlocks::verify_region(const Area& area, const std::vector<bool>& needed) {
  std::vector<Blocks> ranges;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    if (i != 0 && needed[i - 1]) {
      ++ranges.back().count;
    } else {
      ranges.push_back({i, 1});
    }
  }
  CAIRN_TRY_ASSIGN(reader, stored_.reader_of(area.rank));
  return reader->verify(area, ranges);
}

}  // namespace cairn::checkpoint
