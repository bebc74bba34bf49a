// CountedLine: all elements of a counted variable of a version as one array, for programs that read
// it without defining it.
#pragma once

#include "checkpoint/restart/counted.h"

namespace cairn::checkpoint {

class CountedLine {
 public:
  // `stored` stays where it is. EUCLEAN.
  static Result<std::unique_ptr<CountedLine>> find(StoredVersion* stored, uint32_t variable);

  [[nodiscard]] uint32_t variable() const { return variable_; }
  [[nodiscard]] uint64_t elements() const { return begins_.back(); }
  // Verifies and copies the elements of an array of one dimension from this one on; they lie on the
  // line.
  Status read(uint64_t first, const ArrayPlace& array);
  // How many elements each rank has.
  static Result<std::vector<uint64_t>> counts(StoredVersion* stored, uint32_t variable);
  // Of all ranks, by variable; 0 for those of a fixed number.
  static Result<std::vector<uint64_t>> totals(StoredVersion* stored);

 private:
  CountedLine(StoredVersion* stored, uint32_t variable)
      : counted_(stored, none_, 0, 1), variable_(variable) {}

  Definitions none_;
  Counted counted_;
  uint32_t variable_;
  Takes takes_;
  std::vector<uint64_t> begins_;  // of each of these, and the end
};

}  // namespace cairn::checkpoint
