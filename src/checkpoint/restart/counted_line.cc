#include "checkpoint/restart/counted_line.h"

#include <algorithm>

namespace cairn::checkpoint {

Result<std::unique_ptr<CountedLine>> CountedLine::find(StoredVersion* stored, uint32_t variable) {
  std::unique_ptr<CountedLine> line(new CountedLine(stored, variable));
  CAIRN_TRY_ASSIGN(takes, line->counted_.find_all(variable));
  line->begin(std::move(takes));
  return line;
}

Result<std::unique_ptr<CountedLine>> CountedLine::find_lists(StoredVersion* stored,
                                                             uint32_t variable, const Box& cells) {
  std::unique_ptr<CountedLine> line(new CountedLine(stored, variable));
  CAIRN_TRY_ASSIGN(takes, line->counted_.find_lists(variable, cells));
  line->begin(std::move(takes));
  line->cells_ = cells;
  return line;
}

void CountedLine::begin(Takes takes) {
  takes_ = std::move(takes);
  uint64_t begin = 0;
  for (const Take& take : takes_) {
    begins_.push_back(begin);
    begin += take.count;  // below 2^62: each lies in its extent
  }
  begins_.push_back(begin);
}

Status CountedLine::read(uint64_t first, const ArrayPlace& array) {
  const uint64_t end = first + array.view.counts()[0];
  Takes some;
  // The last rank that begins before or at `first`.
  auto at = static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), first) -
                                begins_.begin());
  for (at -= 1; at < takes_.size() && begins_[at] < end; ++at) {
    const Take& take = takes_[at];
    const uint64_t from = std::max(first, begins_[at]);
    const uint64_t to = std::min(end, begins_[at + 1]);
    some.push_back({take.rank, take.first + (from - begins_[at]), to - from});
  }
  return counted_.read(variable_, some, array);
}

Result<std::vector<uint64_t>> CountedLine::counts(StoredVersion* stored, uint32_t variable) {
  const Definitions none;
  Counted counted(stored, none, 0, 1);
  std::vector<uint64_t> counts;
  for (uint32_t rank = 0; rank < stored->version().ranks; ++rank) {
    CAIRN_TRY_ASSIGN(entry, counted.entry_of(rank, variable));
    counts.push_back(entry.elements);
  }
  return counts;
}

Result<uint64_t> CountedLine::elements_of(StoredVersion* stored, uint32_t variable, uint32_t rank) {
  const Definitions none;
  Counted counted(stored, none, 0, 1);
  CAIRN_TRY_ASSIGN(entry, counted.entry_of(rank, variable));
  return entry.elements;
}

Status CountedLine::read_rank(StoredVersion* stored, uint32_t variable, uint32_t rank,
                              uint64_t first, const ArrayPlace& array) {
  const Definitions none;
  Counted counted(stored, none, 0, 1);
  CAIRN_TRY_ASSIGN(entry, counted.entry_of(rank, variable));
  const uint64_t count = array.view.counts()[0];
  if (first > entry.elements || count > entry.elements - first)
    return fail(EINVAL, "rank %u has %llu elements; [%llu, %llu) lies outside of them", rank,
                static_cast<unsigned long long>(entry.elements),
                static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(first + count));
  if (count == 0) return Status();
  return counted.read(variable, {{rank, first, count}}, array);
}

Result<std::vector<uint64_t>> CountedLine::totals(StoredVersion* stored) {
  const Contents& contents = stored->contents();
  std::vector<uint64_t> totals(contents.layout().variables());
  if (!contents.has_counted()) return totals;
  const Definitions none;
  Counted counted(stored, none, 0, 1);
  for (uint32_t i = 0; i < totals.size(); ++i) {
    if (!contents.is_counted(contents.layout().variable(i))) continue;
    for (uint32_t rank = 0; rank < stored->version().ranks; ++rank) {
      CAIRN_TRY_ASSIGN(entry, counted.entry_of(rank, i));
      totals[i] += entry.elements;  // below 2^62: each lies in its extent
    }
  }
  return totals;
}

}  // namespace cairn::checkpoint
