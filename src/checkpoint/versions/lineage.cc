#include "checkpoint/versions/lineage.h"

#include <algorithm>
#include <set>

namespace cairn::checkpoint {

Lineage lineage_after(const VersionRecord& version, uint64_t last) {
  Lineage lineage;
  lineage.parent = version.sequence;
  lineage.horizon = version.horizon;
  lineage.ranges.assign(version.ranges, version.ranges + version.range_count);
  if (last <= version.sequence) return lineage;
  if (lineage.ranges.size() == max_ranges) {
    lineage.horizon = lineage.ranges.front().to;
    lineage.ranges.erase(lineage.ranges.begin());
  }
  lineage.ranges.push_back({version.sequence + 1, last});
  return lineage;
}

Lineage lineage_anew(uint64_t last) {
  Lineage lineage;
  lineage.horizon = last;
  return lineage;
}

void put_lineage(const Lineage& lineage, VersionRecord* version) {
  version->parent = lineage.parent;
  version->horizon = lineage.horizon;
  version->range_count = static_cast<uint32_t>(lineage.ranges.size());
  std::copy(lineage.ranges.begin(), lineage.ranges.end(), version->ranges);
}

bool is_in_line(const VersionRecord& head, uint64_t sequence) {
  if (sequence == head.sequence) return true;
  if (sequence > head.sequence || sequence <= head.horizon) return false;
  return std::none_of(head.ranges, head.ranges + head.range_count, [&](const RangeRecord& range) {
    return sequence >= range.from && sequence <= range.to;
  });
}

std::vector<uint64_t> beyond_retention(const std::vector<VersionRecord>& committed,
                                       const VersionRecord& head, const Retention& retention) {
  std::vector<VersionRecord> newest_first = committed;
  std::sort(newest_first.begin(), newest_first.end(),
            [](const auto& a, const auto& b) { return a.sequence > b.sequence; });
  std::vector<uint64_t> beyond;
  std::set<uint64_t> periods;
  uint32_t in_line = 0;
  for (const VersionRecord& version : newest_first) {
    if (!is_in_line(head, version.sequence)) {
      beyond.push_back(version.sequence);
      continue;
    }
    const auto multiple = static_cast<int64_t>(
        std::min<uint64_t>(retention.keep_multiple, static_cast<uint64_t>(INT64_MAX)));
    bool stays = ++in_line <= std::max(retention.keep, 1U);
    if (multiple != 0 && version.number % multiple == 0) stays = true;
    if (retention.keep_period_ns != 0 &&
        periods.insert(version.begun / retention.keep_period_ns).second)
      stays = true;
    if (!stays) beyond.push_back(version.sequence);
  }
  return beyond;
}

}  // namespace cairn::checkpoint
