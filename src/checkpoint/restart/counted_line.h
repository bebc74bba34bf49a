// CountedLine: presents all elements of a counted variable of a version as one array, to programs
// that read it without defining it.
#pragma once

#include <optional>

#include "checkpoint/restart/counted.h"

namespace cairn::checkpoint {

class CountedLine {
 public:
  // Makes a line of all elements. `stored` stays where it is. EUCLEAN.
  static Result<std::unique_ptr<CountedLine>> find(StoredVersion* stored, uint32_t variable);
  // Makes a line of the elements of some cells of a ragged variable.
  static Result<std::unique_ptr<CountedLine>> find_lists(StoredVersion* stored, uint32_t variable,
                                                         const Box& cells);

  [[nodiscard]] uint32_t variable() const { return variable_; }
  // Returns the cells of the line; no value: all of them.
  [[nodiscard]] const std::optional<Box>& cells() const { return cells_; }
  [[nodiscard]] uint64_t elements() const { return begins_.back(); }
  // Verifies and copies elements from `first` on, as many as the array of one dimension has; the
  // line has them.
  Status read(uint64_t first, const ArrayPlace& array);
  // Returns the number of elements of each rank.
  static Result<std::vector<uint64_t>> counts(StoredVersion* stored, uint32_t variable);
  // Returns the number of elements of one rank. EHOSTDOWN: its part is not here.
  static Result<uint64_t> elements_of(StoredVersion* stored, uint32_t variable, uint32_t rank);
  // Verifies and copies elements of one rank, from `first` on. EINVAL: the rank has fewer.
  static Status read_rank(StoredVersion* stored, uint32_t variable, uint32_t rank, uint64_t first,
                          const ArrayPlace& array);
  // Returns the number of elements of all ranks, by variable; 0 for variables of a fixed number.
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
