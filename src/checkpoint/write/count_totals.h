// CountTotals sums the counts of ragged arrays for the rank that writes them.
#pragma once

#include <map>
#include <set>

#include "checkpoint/write/extent_writer.h"

namespace cairn::checkpoint {

class CountTotals {
 public:
  explicit CountTotals(const Contents& contents);

  // The rank stores this array for a variable.
  void note(uint32_t variable, const ArrayPlace& array);
  // EINVAL: a ragged array has another number of values than its counts say, or particles have
  // another one than their key. A restart could not read such a version. Also if the cells
  // lie in another order than on the first rank: the values would be those of other cells. Or if a
  // key is that of no cell: no rank would get the particle.
  [[nodiscard]] Status check(const Extent& extent, uint32_t rank) const;

 private:
  [[nodiscard]] Status check_key(const Extent& extent, const DirectoryRecord& entry,
                                 const Variable& variable) const;
  [[nodiscard]] Status check_cells(const ArrayPlace& keys, const Variable& variable) const;

  const Contents& contents_;
  std::map<uint32_t, uint64_t> totals_;  // by variable that counts
  std::set<uint32_t> disordered_;        // of these: this rank's values lie in another order
};

}  // namespace cairn::checkpoint
