#include "checkpoint/write/count_totals.h"

#include "checkpoint/record/text.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t too_many = UINT64_MAX;  // also stands for negative counts

uint64_t total_of(const ArrayPlace& array) {
  const Type type = array.view.type();
  const uint64_t size = array.view.element_size();
  uint64_t total = 0;
  Runs runs = array.view.inner(plain_order());
  Runs::Run run;
  while (runs.next(&run)) {
    const uint8_t* const from = array.base + run.offset;
    for (uint64_t at = 0; at < run.size; at += size)
      if (__builtin_add_overflow(total, integer_at(from + at, type), &total)) return too_many;
  }
  return total > max_elements ? too_many : total;
}

// Checks the order; the place of a dimension of one element does not matter.
bool lies_in_order(const ArrayPlace& array, const Order& stored) {
  const auto next = [&](const Order& order, unsigned* at) {
    while (*at < array.view.dimensions() && array.view.counts()[order[*at]] == 1) ++*at;
  };
  unsigned own = 0;
  unsigned other = 0;
  for (;; ++own, ++other) {
    next(array.view.order(), &own);
    next(stored, &other);
    if (own == array.view.dimensions()) return true;
    if (array.view.order()[own] != stored[other]) return false;
  }
}

}  // namespace

CountTotals::CountTotals(const Contents& contents) : contents_(contents) {
  if (!contents.has_counted()) return;
  for (uint32_t i = 0; i < contents.layout().variables(); ++i) {
    const Variable variable = contents.layout().variable(i);
    if (contents.decomposition_of(variable).counting() == Counting::by_lists)
      totals_.emplace(*variable.over, 0);
  }
}

// Checks that there is one key per particle.
Status CountTotals::check_key(const Extent& extent, const DirectoryRecord& entry,
                              const Variable& variable) const {
  for (const DirectoryRecord& other : extent.directory) {
    if (other.variable != *variable.key || other.elements == entry.elements) continue;
    return fail(EINVAL, "variable '%s': has %llu particles; its key '%s' has %llu",
                shown_text(variable.name).c_str(), static_cast<unsigned long long>(entry.elements),
                shown_text(contents_.layout().variable(*variable.key).name).c_str(),
                static_cast<unsigned long long>(other.elements));
  }
  return Status();
}

// Checks that each key is the number of a cell.
Status CountTotals::check_cells(const ArrayPlace& keys, const Variable& variable) const {
  const Variable cells = contents_.layout().variable(*variable.over);
  const uint64_t count = volume(contents_.decomposition_of(cells).whole()).value_or(0);
  const Type type = keys.view.type();
  const uint64_t size = keys.view.element_size();
  Runs runs = keys.view.inner(plain_order());
  Runs::Run run;
  for (uint64_t first = 0; runs.next(&run); first += run.size / size) {
    const uint8_t* const from = keys.base + run.offset;
    for (uint64_t at = 0; at < run.size; at += size) {
      const uint64_t cell = integer_at(from + at, type);
      if (cell < count) continue;
      const auto shown =
          type == Type::uint64 ? std::to_string(cell) : std::to_string(static_cast<int64_t>(cell));
      return fail(EINVAL,
                  "variable '%s': particle %llu of this rank has the key %s; '%s' has %llu cells, "
                  "from 0 on: leave particles without a cell out, or give no key",
                  shown_text(variable.name).c_str(),
                  static_cast<unsigned long long>(first + at / size), shown.c_str(),
                  shown_text(cells.name).c_str(), static_cast<unsigned long long>(count));
    }
  }
  return Status();
}

void CountTotals::note(uint32_t variable, const ArrayPlace& array) {
  const auto found = totals_.find(variable);
  if (found == totals_.end()) return;
  found->second = total_of(array);
  if (!lies_in_order(array, contents_.layout().variable(variable).order))
    disordered_.insert(variable);
}

Status CountTotals::check(const Extent& extent, uint32_t rank) const {
  for (size_t i = 0; i < extent.directory.size(); ++i) {
    const DirectoryRecord& entry = extent.directory[i];
    const Variable variable = contents_.layout().variable(entry.variable);
    if (variable.key) CAIRN_TRY(check_key(extent, entry, variable));
    const Counting counting = contents_.decomposition_of(variable).counting();
    if (counting == Counting::by_keys && variable.over && !variable.key)
      CAIRN_TRY(check_cells(extent.arrays[i], variable));
    if (counting != Counting::by_lists) continue;
    const Variable counts = contents_.layout().variable(*variable.over);
    // Rank 0 stores the counts that all ranks have, and its values count.
    if (!contents_.decomposition_of(counts).stores(rank)) continue;
    if (disordered_.contains(*variable.over))
      return fail(EINVAL,
                  "variable '%s': this rank has the cells of '%s' in another order in memory than "
                  "the first rank; use the same on all",
                  shown_text(variable.name).c_str(), shown_text(counts.name).c_str());
    const uint64_t total = totals_.at(*variable.over);
    if (total == entry.elements) continue;
    const std::string shown = shown_text(counts.name);
    if (total == too_many)
      return fail(EINVAL, "variable '%s': a count in '%s' is negative, or their sum exceeds 2^62",
                  shown_text(variable.name).c_str(), shown.c_str());
    return fail(EINVAL, "variable '%s': has %llu values; the counts in '%s' sum to %llu",
                shown_text(variable.name).c_str(), static_cast<unsigned long long>(entry.elements),
                shown.c_str(), static_cast<unsigned long long>(total));
  }
  return Status();
}

}  // namespace cairn::checkpoint
