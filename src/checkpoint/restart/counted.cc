#include "checkpoint/restart/counted.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "checkpoint/layout/checksum_list.h"
#include "checkpoint/record/text.h"
#include "checkpoint/restart/integer_reader.h"

namespace cairn::checkpoint {
namespace {

// Returns the distances between an array's elements in this order, by dimension.
Places strides_of(const Section& section, const Order& order) {
  const Extents counts = section.counts();
  Places strides{};
  int64_t unit = 1;
  for (unsigned k = section.dimensions; k-- != 0;) {
    strides[order[k]] = unit;
    unit *= static_cast<int64_t>(counts[order[k]]);
  }
  return strides;
}

// Returns true if the section has this element of the whole array, numbered with the last dimension
// the fastest.
bool has_cell(const Section& section, const Box& whole, uint64_t cell) {
  for (unsigned k = whole.dimensions; k-- != 0;) {
    if (whole.count[k] == 0) return false;  // there are no cells
    if (!section.along[k].contains(cell % whole.count[k])) return false;
    cell /= whole.count[k];
  }
  return cell == 0;
}

// Calls visit for parts of a box of at most so many cells, in the order of its cells with the last
// dimension the fastest.
Status for_each_slab(const Box& whole, uint64_t most,
                     const std::function<Status(const Box& slab)>& visit) {
  if (is_empty(whole)) return Status();
  // Dimensions from `cut` on are whole in each slab; the one before is cut.
  unsigned cut = whole.dimensions;
  uint64_t unit = 1;
  while (cut != 0 && whole.count[cut - 1] <= most / unit) unit *= whole.count[--cut];
  if (cut == 0) return visit(whole);
  const unsigned last = cut - 1;
  const uint64_t step = most / unit;
  Box slab = whole;
  for (unsigned k = 0; k < last; ++k) slab.count[k] = 1;
  const auto end = [&](unsigned k) { return whole.offset[k] + whole.count[k]; };
  for (;;) {
    slab.count[last] = std::min(step, end(last) - slab.offset[last]);
    CAIRN_TRY(visit(slab));
    slab.offset[last] += slab.count[last];
    unsigned k = last;
    while (slab.offset[k] == end(k)) {
      if (k == 0) return Status();
      slab.offset[k] = whole.offset[k];
      --k;
      ++slab.offset[k];
    }
  }
}

// Finds the values of a rank's cells among all of its values. The cells come in the stored order.
class Lists {
 public:
  struct List {
    uint64_t first = 0;
    uint64_t count = 0;
  };
  // The rank stores `elements` values.
  Lists(IntegerReader* counts, uint32_t rank, uint64_t elements)
      : counts_(*counts), rank_(rank), elements_(elements) {}

  // Finds the list of a cell behind the one before.
  Result<List> find(uint64_t cell) {
    List list;
    while (cells_ <= cell) {
      if (counts_.is_over()) return fail(EUCLEAN, "rank %u: stores fewer cells than it has", rank_);
      CAIRN_TRY_ASSIGN(next, take());
      list = next;
    }
    return list;
  }
  // Reads the rest, and checks that the counts add up to the values.
  Status finish() {
    while (!counts_.is_over()) CAIRN_TRY(take().status());
    return begun_ == elements_
               ? Status()
               : fail(EUCLEAN, "rank %u: its cells have fewer values than it stores", rank_);
  }

 private:
  Result<List> take() {
    CAIRN_TRY_ASSIGN(count, counts_.next());
    if (count > elements_ - begun_)
      return fail(EUCLEAN, "rank %u: its cells have more values than it stores", rank_);
    const List list{begun_, count};
    begun_ += count;
    ++cells_;
    return list;
  }

  IntegerReader& counts_;
  uint32_t rank_;
  uint64_t elements_;
  uint64_t begun_ = 0;  // values of the cells that were taken
  uint64_t cells_ = 0;
};

// Calls place(list, cell) for each cell that a rank has stored and another one wants, in the stored
// order, which is that of the lists. `strides` give the cell its number, by dimension.
Status place_lists(const Section& stored, const Section& wanted, const Order& order,
                   const Places& strides, Lists* lists,
                   const std::function<void(const Lists::List& list, uint64_t cell)>& place) {
  if (stored.dimensions == 0) {
    CAIRN_TRY_ASSIGN(list, lists->find(0));
    place(list, 0);
    return lists->finish();
  }
  const int64_t step = strides[order[stored.dimensions - 1]];
  SharedRuns runs(stored, wanted, order, strides);
  SharedRuns::Run run;
  while (runs.next(&run)) {
    for (uint64_t i = 0; i < run.count; ++i) {
      CAIRN_TRY_ASSIGN(list, lists->find(run.from + i));
      place(list, static_cast<uint64_t>(run.to + static_cast<int64_t>(i) * step));
    }
  }
  return lists->finish();
}

}  // namespace

void Counted::add(Takes* takes, uint32_t rank, uint64_t first, uint64_t count) {
  if (count == 0) return;
  if (!takes->empty() && takes->back().rank == rank &&
      takes->back().first + takes->back().count == first) {
    takes->back().count += count;
    return;
  }
  takes->push_back({rank, first, count});
}

// Returns the directory of a rank: it contains the sizes, and the packing rule determines the
// places.
Result<const Directory*> Counted::directory_of(uint32_t rank) {
  const auto known = directories_.find(rank);
  if (known != directories_.end()) return &known->second;
  CAIRN_TRY_ASSIGN(area, stored_.extent_of(rank));
  CAIRN_TRY_ASSIGN(bytes, read_verified(&stored_, area, 0, directory_bytes(stored_.contents())));
  CAIRN_TRY_ASSIGN(directory, read_directory(stored_.contents(), bytes, area.bytes, rank));
  return &directories_.emplace(rank, std::move(directory)).first->second;
}

Result<DirectoryRecord> Counted::entry_of(uint32_t rank, uint32_t variable) {
  CAIRN_TRY_ASSIGN(directory, directory_of(rank));
  for (const DirectoryRecord& entry : *directory)
    if (entry.variable == variable) return entry;
  return fail(EUCLEAN, "the directory of rank %u lacks a variable", rank);
}

Status Counted::plan_per_rank(uint32_t variable, Takes* takes) {
  if (rank_ >= stored_.version().ranks) return Status();
  CAIRN_TRY_ASSIGN(entry, entry_of(rank_, variable));
  add(takes, rank_, 0, entry.elements);
  return Status();
}

// Plans N ranks on M: rank r takes the elements between r/M and (r + 1)/M of a line on which each
// stored rank has the same length.
Status Counted::plan_in_order(uint32_t variable, Takes* takes) {
  const uint64_t stored = stored_.version().ranks;
  const uint64_t from = stored * rank_;
  const uint64_t to = stored * (uint64_t{rank_} + 1);
  const auto first = static_cast<uint32_t>(from / ranks_);
  const auto last = static_cast<uint32_t>((to - 1) / ranks_);
  for (uint32_t rank = first; rank <= last; ++rank) {
    CAIRN_TRY_ASSIGN(entry, entry_of(rank, variable));
    const uint64_t begin = uint64_t{rank} * ranks_;
    const auto share = [&](uint64_t position) {
      const uint64_t part = std::min<uint64_t>(position > begin ? position - begin : 0, ranks_);
      // This is elements * part / ranks_ without overflow: that product could exceed 64 bits.
      return entry.elements / ranks_ * part + entry.elements % ranks_ * part / ranks_;
    };
    add(takes, rank, share(from), share(to) - share(from));
  }
  return Status();
}

// Plans by key. All ranks read all keys, because a particle may be stored far from its cell.
Status Counted::plan_by_key(const Variable& stored, uint32_t key_index, const Definition& cells,
                            Takes* takes) {
  const Layout& layout = stored_.contents().layout();
  if (stored_.contents().decomposition_of(layout.variable(*stored.over)).whole() != cells.whole)
    return fail(EINVAL, "its cells have another shape");
  const auto known = by_key_.find({key_index, *stored.over});
  if (known != by_key_.end()) {
    *takes = known->second;
    return Status();
  }
  const Variable key = layout.variable(key_index);
  const Section own = cells.section(rank_, ranks_);
  for (uint32_t rank = 0; rank < stored_.version().ranks; ++rank) {
    CAIRN_TRY_ASSIGN(entry, entry_of(rank, key_index));
    CAIRN_TRY_ASSIGN(area, stored_.extent_of(rank));
    if (entry.elements == 0) continue;  // its offset has no meaning
    CAIRN_TRY_ASSIGN(keys, IntegerReader::open(&stored_, area, entry.offset, entry.bytes, key));
    for (uint64_t i = 0; i < entry.elements; ++i) {
      CAIRN_TRY_ASSIGN(cell, keys.next());
      if (has_cell(own, cells.whole, cell)) add(takes, rank, i, 1);
    }
  }
  by_key_.emplace(std::pair(key_index, *stored.over), *takes);
  return Status();
}

// Plans the values of some cells, in this order of the cells.
Status Counted::plan_ragged(uint32_t index, const Section& cells, const Order& order,
                            Takes* takes) {
  const uint32_t over = *stored_.contents().layout().variable(index).over;
  const Variable counts = stored_.contents().layout().variable(over);
  const Decomposition& decomposition = stored_.contents().decomposition_of(counts);
  const auto cells_here = volume(whole_of(cells.dimensions, cells.counts()));
  if (!cells_here) return fail(EOVERFLOW, "more than 2^62 cells");
  Takes by_cell(static_cast<size_t>(*cells_here));
  const Places strides = strides_of(cells, order);
  for (const uint32_t rank : decomposition.holders_of(cells)) {
    CAIRN_TRY_ASSIGN(piece, stored_.piece_of(rank, over));
    if (!piece) return fail(EUCLEAN, "rank %u stores no counts", rank);
    CAIRN_TRY_ASSIGN(area, stored_.region_of(rank));
    CAIRN_TRY_ASSIGN(entry, entry_of(rank, index));
    CAIRN_TRY_ASSIGN(reader,
                     IntegerReader::open(&stored_, area, piece->offset, piece->bytes, counts));
    Lists lists(&reader, rank, entry.elements);
    CAIRN_TRY(place_lists(decomposition.section_of(rank), cells, counts.order, strides, &lists,
                          [&](const Lists::List& list, uint64_t cell) {
                            by_cell[static_cast<size_t>(cell)] = {rank, list.first, list.count};
                          }));
  }
  for (const Take& take : by_cell) add(takes, take.rank, take.first, take.count);
  return Status();
}

Status Counted::plan(const MatchedVariable& matched) {
  const Variable stored = stored_.contents().layout().variable(matched.stored);
  const Counting counting = stored_.contents().decomposition_of(stored).counting();
  const bool has_cells = stored.over.has_value();
  const auto cells = definitions_.all().find(matched.definition->over);
  Status status;
  Takes takes;
  if (counting == Counting::by_rank) {
    status = plan_per_rank(matched.stored, &takes);
  } else if (!has_cells) {
    status = plan_in_order(matched.stored, &takes);
  } else if (cells == definitions_.all().end()) {
    status = fail(EINVAL, "the variable of its cells is not defined");
  } else if (counting == Counting::by_lists) {
    const Definition& own = cells->second;
    const Variable counts = stored_.contents().layout().variable(*stored.over);
    status = stored_.contents().decomposition_of(counts).whole() == own.whole
                 ? plan_ragged(matched.stored, own.section(rank_, ranks_), own.place.view.order(),
                               &takes)
                 : fail(EINVAL, "its cells have another shape");
  } else {
    status = plan_by_key(stored, stored.key.value_or(matched.stored), cells->second, &takes);
  }
  if (status.ok()) status = mark(matched.stored, takes);
  if (!status.ok()) return annotate(status, "variable '%s'", shown_text(*matched.name).c_str());
  takes_[matched.stored] = std::move(takes);
  return Status();
}

Status Counted::mark(uint32_t variable, const Takes& takes) {
  const uint64_t block = stored_.contents().layout().block_bytes();
  const uint64_t element = stored_.contents().layout().variable(variable).element_size;
  for (const Take& take : takes) {
    CAIRN_TRY_ASSIGN(entry, entry_of(take.rank, variable));
    CAIRN_TRY_ASSIGN(area, stored_.extent_of(take.rank));
    if (take.first + take.count > entry.elements)
      return fail(EUCLEAN, "rank %u stores fewer elements than its key", take.rank);
    auto& needed = needed_[take.rank];
    needed.resize(static_cast<size_t>(blocks_of(area.bytes, block)));
    const BlockRange range =
        blocks_around(entry.offset + take.first * element, take.count * element, area.bytes, block);
    std::fill_n(needed.begin() + static_cast<ptrdiff_t>(range.first), range.count, true);
  }
  return Status();
}

Status Counted::verify() {
  for (const auto& [rank, needed] : needed_) {
    std::vector<Blocks> ranges;
    for (size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i]) continue;
      if (i != 0 && needed[i - 1]) {
        ++ranges.back().count;
      } else {
        ranges.push_back({i, 1});
      }
    }
    CAIRN_TRY_ASSIGN(area, stored_.extent_of(rank));
    CAIRN_TRY_ASSIGN(reader, stored_.reader_of(rank));
    CAIRN_TRY(reader->verify(area, ranges));
  }
  return Status();
}

uint64_t Counted::count_of(uint32_t variable) const {
  uint64_t count = 0;
  const auto found = takes_.find(variable);
  if (found == takes_.end()) return 0;
  for (const Take& take : found->second) count += take.count;
  return count;
}

Result<Takes> Counted::find_all(uint32_t variable) {
  const Contents& contents = stored_.contents();
  const Variable stored = contents.layout().variable(variable);
  Takes takes;
  if (contents.decomposition_of(stored).counting() != Counting::by_lists) {
    for (uint32_t rank = 0; rank < stored_.version().ranks; ++rank) {
      CAIRN_TRY_ASSIGN(entry, entry_of(rank, variable));
      add(&takes, rank, 0, entry.elements);
    }
    return takes;
  }
  return find_lists(variable,
                    contents.decomposition_of(contents.layout().variable(*stored.over)).whole());
}

Result<Takes> Counted::find_lists(uint32_t variable, const Box& cells) {
  constexpr uint64_t most_cells = uint64_t{1} << 20;
  Takes takes;
  CAIRN_TRY(for_each_slab(cells, most_cells, [&](const Box& slab) {
    return plan_ragged(variable, section_of(slab), plain_order(), &takes);
  }));
  return takes;
}

Status Counted::read(uint32_t variable, const Takes& takes, const ArrayPlace& array) {
  needed_.clear();
  CAIRN_TRY(mark(variable, takes));
  CAIRN_TRY(verify());
  return copy(variable, takes, array);
}

Status Counted::copy(uint32_t variable, const Takes& takes, const ArrayPlace& array) {
  const uint64_t element = stored_.contents().layout().variable(variable).element_size;
  Runs runs = array.view.inner(plain_order());
  Runs::Run run;
  uint64_t left = 0;
  uint8_t* to = nullptr;
  for (const Take& take : takes) {
    CAIRN_TRY_ASSIGN(entry, entry_of(take.rank, variable));
    CAIRN_TRY_ASSIGN(area, stored_.extent_of(take.rank));
    CAIRN_TRY_ASSIGN(reader, stored_.reader_of(take.rank));
    uint64_t at = entry.offset + take.first * element;
    for (uint64_t bytes = take.count * element; bytes != 0;) {
      if (left == 0) {
        if (!runs.next(&run)) return fail(EINVAL, "the array has too few elements");
        to = array.base + run.offset;
        left = run.size;
      }
      const uint64_t n = std::min(bytes, left);
      CAIRN_TRY(reader->read(area, at, to, n));
      at += n;
      to += n;
      left -= n;
      bytes -= n;
    }
  }
  return Status();
}

}  // namespace cairn::checkpoint
