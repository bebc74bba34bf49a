#include "checkpoint/restart/needed_blocks.h"

#include <algorithm>

namespace cairn::checkpoint {

Status NeededBlocks::add(uint32_t variable, const Section& wanted) {
  const Variable stored = stored_.contents().layout().variable(variable);
  for (const uint32_t rank : stored_.contents().decomposition_of(stored).holders_of(wanted))
    CAIRN_TRY(add_part(variable, rank, wanted));
  return Status();
}

Status NeededBlocks::add_part(uint32_t variable, uint32_t rank, const Section& wanted) {
  CAIRN_TRY_ASSIGN(piece, stored_.piece_of(rank, variable));
  if (!piece) return fail(EUCLEAN, "rank %u stores no part of a variable that it has", rank);
  const Variable stored = stored_.contents().layout().variable(variable);
  const Section section = stored_.contents().decomposition_of(stored).section_of(rank);
  CAIRN_TRY_ASSIGN(area, stored_.region_of(rank));
  auto& needed = needed_[rank];
  needed.resize(
      static_cast<size_t>(blocks_of(area.bytes, stored_.contents().layout().block_bytes())));
  const auto add = [&](uint64_t first, uint64_t count) {
    mark(&needed, piece->offset + first * stored.element_size, count * stored.element_size);
  };
  if (const auto shared = shared_box(section, wanted)) {
    Runs runs =
        runs_in(whole_of(section.dimensions, section.counts()), shared->stored, stored.order);
    Runs::Run run;
    while (runs.next(&run)) add(static_cast<uint64_t>(run.offset), run.size);
    return Status();
  }
  SharedRuns runs(section, wanted, stored.order, {});
  SharedRuns::Run run;
  while (runs.next(&run)) add(run.from, run.count);
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
