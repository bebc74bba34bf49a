#include "checkpoint/session/version_reader.h"

#include "checkpoint/restart/copy_out.h"
#include "checkpoint/restart/needed_blocks.h"
#include "checkpoint/restart/part_pieces.h"

namespace cairn::checkpoint {
namespace {

Status check_type(const Variable& variable, const ArrayView& view) {
  if (variable.type == view.type() && variable.element_size == view.element_size()) return Status();
  return fail(EINVAL, "the array is of another type");
}

// Returns the box that the program names. `object`: the array that it is part of, for messages.
Result<Box> box_of(const WantedBox& wanted, const Box& whole, const char* object) {
  Box box = whole;
  for (unsigned k = 0; k < whole.dimensions && wanted.offset != nullptr && wanted.count != nullptr;
       ++k) {
    if (wanted.offset[k] < 0 || wanted.count[k] < 0)
      return fail(EINVAL, "offset or count is negative");
    box.offset[k] = static_cast<uint64_t>(wanted.offset[k]);
    box.count[k] = static_cast<uint64_t>(wanted.count[k]);
  }
  if (fits(box, whole.count)) return box;
  return fail(EINVAL, "%s lies outside of the %s %s", shown(box).c_str(), object,
              shown(whole).c_str());
}

Status check_base(const ArrayPlace& array) {
  return array.base != nullptr ? Status() : fail(EFAULT, "array->base is NULL");
}

}  // namespace

Status VersionReader::begin(const VersionNumber& number) {
  if (find_) {
    CAIRN_TRY_ASSIGN(found, find_(number));
    forget();
    stored_.emplace(std::move(found));
    return Status();
  }
  const KnownVersion* const known = view_.look_for(number);
  if (known == nullptr)
    return fail(ENOENT, number ? "the set has no such version" : "the set has no version");
  if (stored_ && stored_->version().sequence == known->version.sequence) return Status();
  forget();
  CAIRN_TRY_ASSIGN(opened,
                   StoredVersion::open({&view_.set(), view_.slot_cache(), nullptr}, *known));
  stored_.emplace(std::move(opened));
  return Status();
}

void VersionReader::forget() {
  line_.reset();
  stored_.reset();
}

Result<VersionReader::Found> VersionReader::find_variable(const VersionNumber& number,
                                                          const std::string& name) {
  CAIRN_TRY(begin(number));
  const auto index = contents().layout().find(name);
  if (!index) return fail(ENOENT, "the version has no such variable");
  const Variable variable = contents().layout().variable(*index);
  return Found{*index, variable, &contents().decomposition_of(variable)};
}

Result<CountedLine*> VersionReader::find_line(uint32_t variable) {
  if (line_ == nullptr || line_->variable() != variable || line_->cells()) {
    line_.reset();
    CAIRN_TRY_ASSIGN(line, CountedLine::find(&*stored_, variable));
    line_ = std::move(line);
  }
  return line_.get();
}

Result<CountedLine*> VersionReader::find_lists(uint32_t variable, const Box& cells) {
  if (line_ == nullptr || line_->variable() != variable || line_->cells() != cells) {
    line_.reset();
    CAIRN_TRY_ASSIGN(lists, CountedLine::find_lists(&*stored_, variable, cells));
    line_ = std::move(lists);
  }
  return line_.get();
}

Status VersionReader::read_box(const VersionNumber& number, const std::string& name,
                               const WantedBox& wanted, const ArrayPlace& array) {
  CAIRN_TRY_ASSIGN(found, find_variable(number, name));
  const bool counts = found.decomposition->is_counted();
  Box whole = found.decomposition->whole();
  if (counts) {
    CAIRN_TRY_ASSIGN(line, find_line(found.index));
    whole = whole_of(1, {line->elements()});
  }
  CAIRN_TRY(check_type(found.variable, array.view));
  CAIRN_TRY_ASSIGN(box, box_of(wanted, whole, "global array"));
  const Box given{array.view.dimensions(), {}, array.view.counts()};
  if (given != Box{box.dimensions, {}, box.count})
    return fail(EINVAL, "the array is %s, what is read %s", shown(given).c_str(),
                shown(box).c_str());
  if (is_empty(box)) return Status();
  CAIRN_TRY(check_base(array));
  if (counts) {
    CAIRN_TRY(line_->read(box.offset[0], array));
    return stored_->check();
  }
  NeededBlocks needed(&*stored_);
  CAIRN_TRY(needed.add(found.index, section_of(box)));
  CAIRN_TRY(needed.verify());
  CopyOut out(&*stored_);
  CAIRN_TRY(out.copy(found.index, section_of(box), array));
  return stored_->check();
}

Result<std::vector<uint64_t>> VersionReader::count(const VersionNumber& number,
                                                   const std::string& name, uint32_t capacity) {
  CAIRN_TRY_ASSIGN(found, find_variable(number, name));
  if (!found.decomposition->is_counted())
    return fail(EINVAL, "its array has a fixed number of elements");
  if (capacity < stored_->version().ranks)
    return fail(EMSGSIZE, "%u ranks wrote the version; there is room for %u",
                stored_->version().ranks, capacity);
  CAIRN_TRY_ASSIGN(counts, CountedLine::counts(&*stored_, found.index));
  CAIRN_TRY(stored_->check());
  return counts;
}

Result<std::vector<uint64_t>> VersionReader::count_all(const VersionNumber& number) {
  CAIRN_TRY(begin(number));
  auto elements = CountedLine::totals(&*stored_);
  if (!find_ && elements.code() == EHOSTDOWN)
    return std::vector<uint64_t>(contents().layout().variables(), UINT64_MAX);
  return elements;
}

Result<std::vector<VersionPart>> VersionReader::list_parts(const VersionNumber& number) {
  CAIRN_TRY(begin(number));
  std::vector<VersionPart> parts;
  const uint32_t count = stored_->version().parts;
  for (uint32_t i = 0; i < count; ++i) {
    const PartRecord& record = stored_->part(i);
    // The host's name ends inside, as the manifest was read.
    parts.push_back({stored_->presence_of(i), record.count,
                     count == 1 ? stored_->bytes() : record.bytes, record.host});
  }
  return parts;
}

Result<std::vector<PartPiece>> VersionReader::list_pieces(const VersionNumber& number,
                                                          const std::string& name, uint32_t part) {
  CAIRN_TRY_ASSIGN(found, find_variable(number, name));
  if (part >= stored_->version().parts)
    return fail(EINVAL, "there is no part %u: the version has %u", part, stored_->version().parts);
  std::vector<PartPiece> pieces;
  if (found.decomposition->is_counted()) {
    CAIRN_TRY_ASSIGN(ranks, stored_->ranks_of(part));
    for (const uint32_t rank : ranks) {
      CAIRN_TRY_ASSIGN(elements, CountedLine::elements_of(&*stored_, found.index, rank));
      pieces.push_back({whole_of(1, {elements}), rank});
    }
  } else {
    CAIRN_TRY_ASSIGN(boxes, part_pieces(&*stored_, found.index, part));
    for (const Box& box : boxes) pieces.push_back({box, 0});
  }
  CAIRN_TRY(stored_->check());
  return pieces;
}

Status VersionReader::read_rank(const VersionNumber& number, const std::string& name, uint32_t rank,
                                int64_t first, const ArrayPlace& array) {
  CAIRN_TRY_ASSIGN(found, find_variable(number, name));
  if (!found.decomposition->is_counted())
    return fail(EINVAL, "its array has a fixed number of elements");
  CAIRN_TRY(check_type(found.variable, array.view));
  if (array.view.dimensions() != 1 || first < 0 || rank >= stored_->version().ranks)
    return fail(EINVAL, "the array has %u dimensions, and element %lld of rank %u is asked for",
                array.view.dimensions(), static_cast<long long>(first), rank);
  if (array.view.counts()[0] != 0) CAIRN_TRY(check_base(array));
  CAIRN_TRY(
      CountedLine::read_rank(&*stored_, found.index, rank, static_cast<uint64_t>(first), array));
  return stored_->check();
}

Status VersionReader::read_lists(const VersionNumber& number, const std::string& name,
                                 const WantedBox& cells, int64_t first, const ArrayPlace& array) {
  CAIRN_TRY_ASSIGN(found, find_variable(number, name));
  if (found.decomposition->counting() != Counting::by_lists)
    return fail(EINVAL, "it has no lists of cells");
  CAIRN_TRY(check_type(found.variable, array.view));
  const Variable over = contents().layout().variable(*found.variable.over);
  CAIRN_TRY_ASSIGN(box, box_of(cells, contents().decomposition_of(over).whole(), "cells"));
  CAIRN_TRY_ASSIGN(line, find_lists(found.index, box));
  const uint64_t elements = array.view.dimensions() == 1 ? array.view.counts()[0] : 0;
  if (array.view.dimensions() != 1 || first < 0 ||
      static_cast<uint64_t>(first) > line->elements() ||
      elements > line->elements() - static_cast<uint64_t>(first))
    return fail(EINVAL, "the cells %s have %llu elements; others are asked for", shown(box).c_str(),
                static_cast<unsigned long long>(line->elements()));
  if (elements == 0) return Status();
  CAIRN_TRY(check_base(array));
  CAIRN_TRY(line->read(static_cast<uint64_t>(first), array));
  return stored_->check();
}

}  // namespace cairn::checkpoint
