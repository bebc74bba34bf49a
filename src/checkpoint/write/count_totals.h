// CountTotals: adds up the counts of ragged arrays for the rank that writes them.
#pragma once

#include <map>
#include <set>

#include "checkpoint/write/extent_writer.h"

namespace cairn::checkpoint {

class CountTotals {
 public:
  explicit CountTotals(const Contents& contents);

  // Records that the rank stores this array for a variable.
  void note(uint32_t variable, const ArrayPlace& array);
  // Returns EINVAL for a version that a restart could not read. A ragged array has another number
  // of values than its counts say. Particles have another number than their key. The cells lie in
  // another order than on the first rank: the values would be those of other cells. A key matches
  // no cell: no rank would get the particle.
  [[nodiscard]] Status check(const Extent& extent, uint32_t rank) const;

 private:
  [[nodiscard]] Status check_key(const Extent& extent, const DirectoryRecord& entry,
                                 const Variable& variable) const;
  [[nodiscard]] Status check_cells(const ArrayPlace& keys, const Variable& variable) const;

  const Contents& contents_;
  std::map<uint32_t, uint64_t> totals_;  // by variable that counts
  std::set<uint32_t> disordered_;        // those whose values lie in another order on this rank
};

}  // namespace cairn::checkpoint
