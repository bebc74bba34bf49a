#include "ckpt/list_rows.h"

#include <algorithm>
#include <cstring>

#include "text/error.h"

namespace cairn::cli {
namespace {

// The places of the cells' lists take 24 bytes a cell.
constexpr uint64_t most_cells = uint64_t{1} << 20;

template <typename T>
uint64_t sum_of(const uint8_t* counts, uint64_t cells) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < cells; ++i) {
    T count{};
    std::memcpy(&count, counts + i * sizeof count, sizeof count);
    sum += static_cast<uint64_t>(count);  // none is negative: the lists were found by them
  }
  return sum;
}

uint64_t sum_of(uint32_t type, const uint8_t* counts, uint64_t cells) {
  switch (type) {
    case CAIRN_TYPE_INT8:
    case CAIRN_TYPE_UINT8:
      return sum_of<uint8_t>(counts, cells);
    case CAIRN_TYPE_INT16:
    case CAIRN_TYPE_UINT16:
      return sum_of<uint16_t>(counts, cells);
    case CAIRN_TYPE_INT32:
    case CAIRN_TYPE_UINT32:
      return sum_of<uint32_t>(counts, cells);
    default:
      return sum_of<uint64_t>(counts, cells);
  }
}

}  // namespace

void for_each_cell_rows(
    CkptReader* reader, const CkptVariable& over, const std::vector<CkptPiece>& pieces,
    const std::function<bool(const Slab& cells, const std::vector<CellRow>& rows)>& visit) {
  bool goes_on = true;
  std::vector<CellRow> rows;
  for (const CkptPiece& piece : pieces) {
    if (!goes_on) return;
    reader->for_each_slab_of(
        over, piece,
        [&](const Slab& cells, const uint8_t* counts) {
          rows.clear();
          for_each_run(over.shape, cells, [&](uint64_t first, uint64_t run) {
            rows.push_back({first, run, sum_of(over.type, counts, run)});
            counts += run * over.element_size;
          });
          return goes_on = visit(cells, rows);
        },
        most_cells);
  }
}

bool ListRows::finish(uint64_t cells, uint64_t values) {
  std::sort(rows_.begin(), rows_.end(),
            [](const CellRow& a, const CellRow& b) { return a.first < b.first; });
  uint64_t next = 0;
  uint64_t place = 0;
  for (const CellRow& row : rows_) {
    if (row.first != next) return false;
    next += row.cells;
    places_.push_back(place);
    place += row.values;
  }
  return next == cells && place == values;
}

uint64_t ListRows::place_of(const CellRow& row) const {
  const auto found =
      std::lower_bound(rows_.begin(), rows_.end(), row.first,
                       [](const CellRow& one, uint64_t first) { return one.first < first; });
  if (found == rows_.end() || found->first != row.first || found->values != row.values)
    fail("the counts of cells {} and following are not those that this host has told of",
         row.first);
  return places_[static_cast<size_t>(found - rows_.begin())];
}

}  // namespace cairn::cli
