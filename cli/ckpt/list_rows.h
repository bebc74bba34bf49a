// ListRows: where the lists of a ragged array go in a file that several hosts write. The lists
// stand in the order of the cells in their global array; a host knows those of its own cells.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sets/ckpt_reader.h"
#include "sets/ckpt_set.h"

namespace cairn::cli {

// Cells that follow each other in the global array, and how many values their lists have.
struct CellRow {
  uint64_t first = 0;
  uint64_t cells = 0;
  uint64_t values = 0;
};

// Reads the counts of the cells that pieces have. Calls visit for parts of them, with the rows of
// each, until it returns false.
void for_each_cell_rows(
    CkptReader* reader, const CkptVariable& over, const std::vector<CkptPiece>& pieces,
    const std::function<bool(const Slab& cells, const std::vector<CellRow>& rows)>& visit);

class ListRows {
 public:
  // Adds a row; the rows of all hosts come in any order.
  void add(const CellRow& row) { rows_.push_back(row); }
  // False: they are not so many cells and values.
  [[nodiscard]] bool finish(uint64_t cells, uint64_t values);
  // The place of the first value of a row that was added. Throws if the row was not added.
  [[nodiscard]] uint64_t place_of(const CellRow& row) const;

 private:
  std::vector<CellRow> rows_;
  std::vector<uint64_t> places_;
};

}  // namespace cairn::cli
