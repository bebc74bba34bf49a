#include "checkpoint/array/decomposition.h"

#include <algorithm>

#include "base/bounded_reader.h"
#include "checkpoint/array/tiling.h"
#include "checkpoint/record/head.h"
#include "checkpoint/record/limits.h"
#include "checkpoint/record/records.h"

namespace cairn::checkpoint {
namespace {

using Kind = DecompositionKind;

constexpr uint32_t even_rule = 1;
constexpr uint32_t listed_rule = 2;

template <typename T>
void append(std::vector<uint8_t>* bytes, const T* values, size_t count) {
  const auto* from = reinterpret_cast<const uint8_t*>(values);
  bytes->insert(bytes->end(), from, from + count * sizeof(T));
}

// Returns a record without body.
std::vector<uint8_t> begin_record(Kind kind, uint32_t ranks, const Box& whole) {
  DecompositionRecord fixed{};
  fixed.kind = static_cast<uint8_t>(kind);
  fixed.dimensions = static_cast<uint8_t>(whole.dimensions);
  fixed.ranks = ranks;
  std::vector<uint8_t> record;
  append(&record, &fixed, 1);
  append(&record, whole.count.data(), whole.dimensions);
  return record;
}

template <typename Field, typename Value>
void set_field(std::vector<uint8_t>* record, Field DecompositionRecord::*field, Value value) {
  auto fixed = record_at<DecompositionRecord>(record->data());
  fixed.*field = static_cast<Field>(value);
  std::memcpy(record->data(), &fixed, sizeof fixed);
}

std::vector<uint8_t> grid_record(uint32_t ranks, const Box& whole, const Grid& grid) {
  std::vector<uint8_t> record = begin_record(Kind::grid, ranks, whole);
  for (const Cut& cut : grid.cuts) {
    const GridRecord fixed{cut.pieces, cut.starts.empty() ? even_rule : listed_rule};
    append(&record, &fixed, 1);
  }
  append(&record, grid.order.data(), grid.dimensions);
  record.resize(align(record.size(), 8));
  for (const Cut& cut : grid.cuts) append(&record, cut.starts.data(), cut.starts.size());
  return record;
}

Status check_whole(uint32_t ranks, const Box& whole) {
  if (ranks == 0) return fail(EINVAL, "decomposition: 0 ranks");
  if (whole.dimensions > max_dimensions)
    return fail(EOVERFLOW, "decomposition: %u dimensions; at most %u", whole.dimensions,
                max_dimensions);
  if (!volume(whole)) return fail(EOVERFLOW, "decomposition: more than 2^62 elements");
  return Status();
}

Status does_not_tile(const Tiling& tiling) {
  switch (tiling.fault) {
    case TilingFault::none:
      return Status();
    case TilingFault::gap:
      return fail(EINVAL, "decomposition: no rank has elements %s", shown(tiling.where).c_str());
    case TilingFault::overlap:
      return fail(EINVAL,
                  "decomposition: ranks %u and %u both have elements %s; give an owner rule",
                  tiling.first, tiling.second, shown(tiling.where).c_str());
    case TilingFault::irregular:
      break;
  }
  return fail(EOVERFLOW, "decomposition: boxes are too irregular to check");
}

// Turns an error of a definition into that of a damaged record.
Status damaged(Status cause) {
  if (cause.ok() || cause.code() == EPROTONOSUPPORT) return cause;
  return annotate(Status(EUCLEAN), "damaged");
}

}  // namespace

Result<Decomposition> Decomposition::seal(std::vector<uint8_t> record) {
  if (record.size() > max_decomposition)
    return fail(EOVERFLOW, "decomposition: %zu bytes; at most 1 GiB", record.size());
  seal_record(record.data(), record.size(), magic_decomposition);
  Decomposition made;
  made.record_ = std::move(record);
  CAIRN_TRY(made.parse());
  return made;
}

Result<Decomposition> Decomposition::read(std::vector<uint8_t> record) {
  CAIRN_TRY_ASSIGN(
      length, check_record(record.data(), record.size(), magic_decomposition, max_decomposition));
  record.resize(static_cast<size_t>(length));
  Decomposition made;
  made.record_ = std::move(record);
  CAIRN_TRY(damaged(made.parse()));
  return made;
}

Result<Decomposition> Decomposition::make_replicated(uint32_t ranks, const Box& whole) {
  CAIRN_TRY(check_whole(ranks, whole));
  return seal(begin_record(Kind::replicated, ranks, whole));
}

Result<Decomposition> Decomposition::make_counted(DecompositionKind kind, uint32_t ranks) {
  CAIRN_TRY(check_whole(ranks, {}));
  return seal(begin_record(kind, ranks, {}));
}

Result<Decomposition> Decomposition::make_boxes(uint32_t ranks, const Box& whole, Owner owner,
                                                const std::vector<uint8_t>& entries) {
  CAIRN_TRY(check_whole(ranks, whole));
  if (whole.dimensions == 0) return fail(EINVAL, "decomposition: boxes of 0 dimensions");
  const BoxTable boxes(entries.data(), entries.size() / box_record_bytes(whole.dimensions),
                       whole.dimensions);
  if (owner == Owner::nobody && boxes.size() == ranks)
    if (const auto grid = find_grid(boxes, whole.count))
      return seal(grid_record(ranks, whole, *grid));
  std::vector<uint8_t> record = begin_record(Kind::boxes, ranks, whole);
  set_field(&record, &DecompositionRecord::owner, owner);
  set_field(&record, &DecompositionRecord::entries, boxes.size());
  record.insert(record.end(), entries.begin(), entries.end());
  return seal(std::move(record));
}

Result<Decomposition> Decomposition::make_darray(uint32_t ranks, const Box& whole,
                                                 const Darray& darray) {
  CAIRN_TRY(check_whole(ranks, whole));
  CAIRN_TRY(darray.check(whole, ranks));
  const Darray same = darray.canonical(whole);
  std::vector<uint8_t> record = begin_record(Kind::darray, ranks, whole);
  set_field(&record, &DecompositionRecord::rank_order, same.rank_order);
  append(&record, same.along.data(), same.dimensions);
  return seal(std::move(record));
}

Status Decomposition::parse() {
  if (record_.size() < sizeof(DecompositionRecord))
    return fail(EUCLEAN, "decomposition: %zu bytes", record_.size());
  const auto fixed = record_at<DecompositionRecord>(record_.data());
  kind_ = static_cast<Kind>(fixed.kind);
  owner_ = static_cast<Owner>(fixed.owner);
  ranks_ = fixed.ranks;
  whole_.dimensions = fixed.dimensions;
  if (fixed.kind < 1 || kind_ > Kind::per_rank)
    return fail(EINVAL, "decomposition: unknown kind %u", fixed.kind);
  if (owner_ > Owner::highest_rank || (owner_ != Owner::nobody && kind_ != Kind::boxes))
    return fail(EINVAL, "decomposition: owner rule %u", fixed.owner);
  if (fixed.rank_order != 0 && kind_ != Kind::darray)
    return fail(EINVAL, "decomposition: rank order %u", fixed.rank_order);
  const bool is_cut = kind_ == Kind::grid || kind_ == Kind::boxes || kind_ == Kind::darray;
  if ((is_cut && fixed.dimensions == 0) || (is_counted(kind_) && fixed.dimensions != 0) ||
      fixed.dimensions > max_dimensions || (fixed.entries != 0 && kind_ != Kind::boxes))
    return fail(EINVAL, "decomposition: kind %u of %u dimensions, %llu entries", fixed.kind,
                fixed.dimensions, static_cast<unsigned long long>(fixed.entries));
  BoundedReader reader(record_.data(), record_.size());
  reader.range(sizeof fixed);
  for (unsigned k = 0; k < whole_.dimensions; ++k) whole_.count[k] = reader.take<uint64_t>();
  if (!reader.ok()) return fail(EINVAL, "decomposition: record is too short");
  CAIRN_TRY(check_whole(ranks_, whole_));
  if (kind_ == Kind::grid) CAIRN_TRY(parse_grid());
  if (kind_ == Kind::boxes) CAIRN_TRY(parse_boxes(fixed.entries));
  if (kind_ == Kind::darray) CAIRN_TRY(parse_darray());
  if (!is_cut && reader.left() != 0)
    return fail(EINVAL, "decomposition: %zu bytes too many", reader.left());
  hash_ = content_hash(record_.data(), record_.size());
  return Status();
}

Status Decomposition::parse_grid() {
  BoundedReader reader(record_.data(), record_.size());
  reader.range(sizeof(DecompositionRecord) + uint64_t{8} * whole_.dimensions);
  grid_.dimensions = whole_.dimensions;
  std::array<uint32_t, max_dimensions> rules{};
  uint64_t pieces = 1;
  for (unsigned k = 0; k < grid_.dimensions; ++k) {
    const auto fixed = reader.take<GridRecord>();
    rules[k] = fixed.rule;
    pieces *= fixed.pieces;  // below 2^64: both are below 2^32
    if (fixed.pieces == 0 || fixed.pieces > whole_.count[k] || pieces > ranks_ ||
        fixed.rule < even_rule || fixed.rule > listed_rule)
      return fail(EINVAL, "decomposition: dimension %u: %u pieces, rule %u", k, fixed.pieces,
                  fixed.rule);
    grid_.cuts.push_back({whole_.count[k], fixed.pieces, {}});
  }
  if (pieces != ranks_)
    return fail(EINVAL, "decomposition: %llu pieces for %u ranks",
                static_cast<unsigned long long>(pieces), ranks_);
  if (const uint8_t* order = reader.range(grid_.dimensions))
    std::copy_n(order, grid_.dimensions, grid_.order.begin());
  reader.align(8);
  for (unsigned k = 0; k < grid_.dimensions; ++k) {
    if (rules[k] == even_rule) continue;
    Cut& cut = grid_.cuts[k];
    const uint8_t* starts = reader.table(uint64_t{cut.pieces} + 1, sizeof(uint64_t));
    if (starts == nullptr) break;
    cut.starts.resize(size_t{cut.pieces} + 1);
    std::memcpy(cut.starts.data(), starts, cut.starts.size() * sizeof(uint64_t));
    const auto falls =
        std::adjacent_find(cut.starts.begin(), cut.starts.end(), std::greater_equal<uint64_t>());
    if (cut.starts.front() != 0 || cut.starts.back() != cut.extent || falls != cut.starts.end())
      return fail(EINVAL, "decomposition: dimension %u: starts do not ascend to the extent", k);
  }
  if (!reader.ok() || reader.left() != 0 || !is_order(grid_.order, grid_.dimensions))
    return fail(EINVAL, "decomposition: grid of wrong length or order");
  return Status();
}

Status Decomposition::parse_boxes(uint64_t entries) {
  BoundedReader reader(record_.data(), record_.size());
  reader.range(sizeof(DecompositionRecord) + uint64_t{8} * whole_.dimensions);
  const uint8_t* table = reader.table(entries, box_record_bytes(whole_.dimensions));
  if (!reader.ok() || reader.left() != 0 || entries > ranks_)
    return fail(EINVAL, "decomposition: %llu boxes for %u ranks in %zu bytes",
                static_cast<unsigned long long>(entries), ranks_, record_.size());
  boxes_ = BoxTable(table, entries, whole_.dimensions);
  CAIRN_TRY(check_boxes());
  return does_not_tile(check_tiling(boxes_, whole_.count, owner_ != Owner::nobody));
}

Status Decomposition::parse_darray() {
  BoundedReader reader(record_.data(), record_.size());
  darray_.rank_order = reader.take<DecompositionRecord>().rank_order;
  reader.range(uint64_t{8} * whole_.dimensions);
  darray_.dimensions = whole_.dimensions;
  for (unsigned k = 0; k < darray_.dimensions; ++k) darray_.along[k] = reader.take<DarrayRecord>();
  if (!reader.ok() || reader.left() != 0)
    return fail(EINVAL, "decomposition: block-cyclic array of wrong length");
  return darray_.check(whole_, ranks_);
}

Status Decomposition::check_boxes() const {
  for (uint64_t i = 0; i < boxes_.size(); ++i) {
    const uint32_t rank = boxes_.rank(i);
    const Box box = boxes_.box(i);
    if (rank >= ranks_ || (i != 0 && rank <= boxes_.rank(i - 1)))
      return fail(EINVAL, "decomposition: box %llu: rank %u of %u does not ascend",
                  static_cast<unsigned long long>(i), rank, ranks_);
    if (!fits(box, whole_.count))
      return fail(EINVAL, "decomposition: box of rank %u: %s is not in %s", rank,
                  shown(box).c_str(), shown(whole_).c_str());
    if (is_empty(box)) return fail(EINVAL, "decomposition: box of rank %u: no elements", rank);
  }
  return Status();
}

Box Decomposition::box_of(uint32_t rank) const {
  if (rank >= ranks_ || is_counted(kind_)) return no_box();
  if (kind_ == Kind::grid) return grid_.box_of(rank);
  if (kind_ == Kind::replicated) return rank == 0 && !is_empty(whole_) ? whole_ : no_box();
  uint64_t from = 0;
  uint64_t to = boxes_.size();
  while (from < to) {
    const uint64_t middle = from + (to - from) / 2;
    if (boxes_.rank(middle) < rank) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from < boxes_.size() && boxes_.rank(from) == rank ? boxes_.box(from) : no_box();
}

Section Decomposition::section_of(uint32_t rank) const {
  if (kind_ == Kind::darray && rank < ranks_) return darray_.section_of(whole_, rank);
  return checkpoint::section_of(box_of(rank));
}

uint64_t Decomposition::elements_of(uint32_t rank) const {
  if (is_counted(kind_) || (kind_ == Kind::replicated && rank != 0)) return 0;
  const Box places{whole_.dimensions, {}, section_of(rank).counts()};
  return volume(places).value_or(0);  // at most those of the array, which were counted
}

std::vector<uint32_t> Decomposition::holders_of(const Section& wanted) const {
  std::vector<uint32_t> holders;
  if (is_counted(kind_) || is_empty(wanted) || is_empty(whole_)) return holders;
  if (kind_ == Kind::grid || kind_ == Kind::darray) return holders_in_grid(wanted);
  if (kind_ == Kind::replicated) {
    if (intersects(whole_, wanted)) holders.push_back(0);
    return holders;
  }
  // Boxes come by ascending rank, so the one that counts comes last. A box that has all of `wanted`
  // covers those before, whose ranks may be on other hosts.
  const uint64_t size = boxes_.size();
  for (uint64_t n = 0; n < size; ++n) {
    const uint64_t i = owner_ == Owner::lowest_rank ? size - 1 - n : n;
    const Box box = boxes_.box(i);
    if (!intersects(box, wanted)) continue;
    if (has_all(box, wanted)) holders.clear();
    holders.push_back(boxes_.rank(i));
  }
  return holders;
}

uint32_t Decomposition::processes_along(unsigned dimension) const {
  return kind_ == Kind::grid ? grid_.cuts[dimension].pieces : darray_.along[dimension].processes;
}

// Returns the rank coordinates with elements of `wanted`, ascending.
std::vector<uint32_t> Decomposition::coordinates_of(unsigned dimension,
                                                    const Stripes& wanted) const {
  std::vector<uint32_t> found;
  uint32_t from = 0;
  uint32_t to = 0;
  if (kind_ == Kind::darray) {
    to = darray_.holders_along(dimension, whole_.count[dimension]);
  } else {
    const Cut& cut = grid_.cuts[dimension];
    const uint64_t end = std::min(wanted.end, cut.extent);
    if (wanted.begin >= end) return found;
    from = cut.piece_of(wanted.begin);
    to = cut.piece_of(end - 1) + 1;
  }
  for (uint32_t at = from; at < to; ++at)
    if (intersects(stripes_of(dimension, at), wanted)) found.push_back(at);
  return found;
}

std::vector<uint32_t> Decomposition::holders_in_grid(const Section& wanted) const {
  const Order order = kind_ == Kind::grid ? grid_.order : darray_.order();
  std::vector<uint32_t> holders{0};
  // The loop starts at the slowest coordinate, so that ranks ascend.
  for (unsigned i = 0; i < wanted.dimensions; ++i) {
    const std::vector<uint32_t> here = coordinates_of(order[i], wanted.along[order[i]]);
    std::vector<uint32_t> ranks;
    ranks.reserve(holders.size() * here.size());
    for (const uint32_t slower : holders)
      for (const uint32_t at : here) ranks.push_back(slower * processes_along(order[i]) + at);
    holders = std::move(ranks);
  }
  return holders;
}

Stripes Decomposition::stripes_of(unsigned dimension, uint32_t coordinate) const {
  if (kind_ == Kind::darray) return darray_.stripes(dimension, whole_.count[dimension], coordinate);
  const uint64_t begin = grid_.cuts[dimension].start(coordinate);
  const uint64_t end = grid_.cuts[dimension].start(coordinate + 1);
  return {begin, end, static_cast<int64_t>(begin), 0, 0};
}

}  // namespace cairn::checkpoint
