// CountedLine: all elements of a counted variable of a version as one array, for programs that read
// it without defining it.
#pragma once

#include <optional>

#include "checkpoint/restart/counted.h"

namespace cairn::checkpoint {

class CountedLine {
 public:
  // `stored` stays where it is. EUCLEAN.
  static Result<std::unique_ptr<CountedLine>> find(StoredVersion* stored, uint32_t variable);
  // Of a ragged variable: a line of those of some cells.
  static Result<std::unique_ptr<CountedLine>> find_lists(StoredVersion* stored, uint32_t variable,
                                                         const Box& cells);

  [[nodiscard]] uint32_t variable() const { return variable_; }
  // Of which cells; nothing: all of them.
  [[nodiscard]] const std::optional<Box>& cells() const { return cells_; }
  [[nodiscard]] uint64_t elements() const { return begins_.back(); }
  // Verifies and copies the elements of an array of one dimension from this one on; they lie on the
  // line.
  Status read(uint64_t first, const ArrayPlace& array);
  // How many elements each rank has.
  static Result<std::vector<uint64_t>> counts(StoredVersion* stored, uint32_t variable);
  // How many elements one rank has. EHOSTDOWN: its part is not here.
  static Result<uint64_t> elements_of(StoredVersion* stored, uint32_t variable, uint32_t rank);
  // Verifies and copies elements of one rank, from this one on. EINVAL: it has fewer.
  static Status read_rank(StoredVersion* stored, uint32_t variable, uint32_t rank, uint64_t first,
                          const ArrayPlace& array);
  // Of all ranks, by variable; 0 for those of a fixed number.
  static Result<std::vector<uint64_t>> totals(StoredVersion* stored);

 private:
  void begin(Takes takes);
  CountedLine(StoredVersion* stored, uint32_t variable)
      : counted_(stored, none_, 0, 1), variable_(variable) {}

  Definitions none_;
  Counted counted_;
  uint32_t variable_;
  std::optional<Box> cells_;
  Takes takes_;
  std::vector<uint64_t> begins_;  // of each of these, and the end
};

}  // namespace cairn::checkpoint
