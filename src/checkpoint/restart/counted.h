// Counted: finds the elements of counted variables that a rank takes from a version, and copies
// them into its arrays. Lists of values follow the cells of their grid, particles with a key follow
// their cells, and others come in order of the ranks.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "checkpoint/restart/directory.h"
#include "checkpoint/restart/match.h"
#include "checkpoint/restart/stored_version.h"

namespace cairn::checkpoint {

// Consecutive elements of a rank.
struct Take {
  uint32_t rank = 0;
  uint64_t first = 0;
  uint64_t count = 0;
};
using Takes = std::vector<Take>;

class Counted {
 public:
  // Restarts as `rank` of `ranks`.
  Counted(StoredVersion* stored, const Definitions& definitions, uint32_t rank, uint32_t ranks)
      : stored_(*stored), definitions_(definitions), rank_(rank), ranks_(ranks) {}

  // Finds the elements that the rank takes of a stored variable, and verifies everything read for
  // that.
  Status plan(const MatchedVariable& matched);
  // Returns the number of these elements.
  [[nodiscard]] uint64_t count_of(uint32_t variable) const;
  // Compares the bytes to be taken with their checksums. EUCLEAN.
  Status verify();
  // Copies into an array of so many elements.
  Status copy(uint32_t variable, const ArrayPlace& array) {
    return copy(variable, takes_[variable], array);
  }

  // Finds all elements of a stored variable: lists in order of the cells in their global array, the
  // last dimension the fastest, others in order of the ranks.
  Result<Takes> find_all(uint32_t variable);
  // Finds the elements of some cells of a ragged variable, in the order of find_all().
  Result<Takes> find_lists(uint32_t variable, const Box& cells);
  // Verifies and copies some elements.
  Status read(uint32_t variable, const Takes& takes, const ArrayPlace& array);
  Result<DirectoryRecord> entry_of(uint32_t rank, uint32_t variable);

 private:
  Result<const Directory*> directory_of(uint32_t rank);
  Status copy(uint32_t variable, const Takes& takes, const ArrayPlace& array);
  Status plan_per_rank(uint32_t variable, Takes* takes);
  Status plan_in_order(uint32_t variable, Takes* takes);
  Status plan_by_key(const Variable& stored, uint32_t key_index, const Definition& cells,
                     Takes* takes);
  Status plan_ragged(uint32_t index, const Section& cells, const Order& order, Takes* takes);
  static void add(Takes* takes, uint32_t rank, uint64_t first, uint64_t count);
  Status mark(uint32_t variable, const Takes& takes);

  StoredVersion& stored_;
  const Definitions& definitions_;
  uint32_t rank_;
  uint32_t ranks_;
  std::map<uint32_t, Directory> directories_;
  std::map<uint32_t, Takes> takes_;                        // by variable
  std::map<std::pair<uint32_t, uint32_t>, Takes> by_key_;  // by key and variable of cells
  std::map<uint32_t, std::vector<bool>> needed_;           // blocks of extents, by rank
};

}  // namespace cairn::checkpoint
