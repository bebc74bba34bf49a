#include "checkpoint/define/definitions.h"

#include <algorithm>

#include "checkpoint/record/attributes.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {
namespace {

bool has_counts(const ArrayView& view, const Box& box) {
  return view.dimensions() == box.dimensions &&
         std::equal(box.count.begin(), box.count.begin() + box.dimensions, view.counts().begin());
}

Box counts_of(const ArrayView& view) { return {view.dimensions(), {}, view.counts()}; }

}  // namespace

Section Definition::section(uint32_t rank) const {
  return kind == DecompositionKind::darray ? darray.section_of(whole, rank) : section_of(box);
}

Result<ArrayPlace> Definition::find(ArrayUse use, uint64_t count) const {
  ArrayPlace now = place;
  const bool counts = is_counted(kind);
  if (getter) {
    CAIRN_TRY_ASSIGN(got, getter(use, count));
    now = got;
    if (now.view.type() != place.view.type() ||
        now.view.element_size() != place.view.element_size() ||
        (counts ? now.view.dimensions() != 1 : !has_counts(now.view, box)))
      return fail(EINVAL, "the getter gave an array of another type or shape");
  }
  if (counts && use == ArrayUse::to_fill && now.view.counts()[0] != count)
    return fail(EMSGSIZE, "the version has %llu elements for this rank, its array has %llu%s",
                static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(now.view.counts()[0]),
                getter ? "" : "; give a getter");
  if (now.base == nullptr && !is_empty(counts_of(now.view)))
    return fail(use == ArrayUse::to_write ? ENODATA : EFAULT, "it has no memory");
  return now;
}

namespace {

// Checks a counted definition; the number of a rank's elements is not part of it.
Status check_counted(const std::string& shown, const Definition& definition) {
  const ArrayView& view = definition.place.view;
  const bool is_ragged = definition.kind == DecompositionKind::ragged;
  const bool is_particles = definition.kind == DecompositionKind::particles;
  if (view.dimensions() != 1 || view.halo_low(0) != 0 || view.halo_high(0) != 0)
    return fail(EINVAL, "variable '%s': expected an array of one dimension without halo",
                shown.c_str());
  if (is_ragged && definition.over.empty())
    return fail(EINVAL, "variable '%s': expected `over`: the variable that counts its values",
                shown.c_str());
  if (!definition.key.empty() && definition.over.empty())
    return fail(EINVAL, "variable '%s': has a key; expected `over` as well", shown.c_str());
  if (is_particles && !definition.over.empty() && definition.key.empty() &&
      !is_integer(view.type()))
    return fail(EINVAL, "variable '%s': expected a key, or values of an integer type",
                shown.c_str());
  if ((!definition.key.empty() && !is_particles) ||
      (!definition.over.empty() && !is_ragged && !is_particles))
    return fail(EINVAL,
                "variable '%s': `over` is for ragged arrays and particles, `key` for particles",
                shown.c_str());
  if (!definition.over.empty()) CAIRN_TRY(check_name(definition.over, "over"));
  if (!definition.key.empty()) CAIRN_TRY(check_name(definition.key, "key"));
  return Status();
}

// Checks a darray by itself. All ranks together check that its extents are those of the rank's
// part.
Status check_darray(const std::string& shown, Definition* definition) {
  const ArrayView& view = definition->place.view;
  for (unsigned k = 0; k < view.dimensions(); ++k)
    if (view.halo_low(k) != 0 || view.halo_high(k) != 0)
      return fail(EINVAL, "variable '%s': a block-cyclic array has no halo", shown.c_str());
  definition->box = counts_of(view);
  return Status();
}

}  // namespace

Status check_definition(const std::string& name, Definition* definition) {
  CAIRN_TRY(check_name(name, "variable"));
  const std::string shown = shown_text(name);
  const ArrayView& view = definition->place.view;
  const Box& whole = definition->whole;
  if (is_counted(definition->kind)) {
    definition->whole = definition->box = {};
    CAIRN_TRY(check_counted(shown, *definition));
    for (const std::string& alias : definition->aliases) CAIRN_TRY(check_name(alias, "alias"));
    return Status();
  }
  if (view.dimensions() != whole.dimensions)
    return fail(EINVAL, "variable '%s': the array has %u dimensions, its global array %u",
                shown.c_str(), view.dimensions(), whole.dimensions);
  if (!volume(whole))
    return fail(EOVERFLOW, "variable '%s': more than 2^62 elements", shown.c_str());
  if (definition->kind == DecompositionKind::darray) {
    CAIRN_TRY(check_darray(shown, definition));
    for (const std::string& alias : definition->aliases) CAIRN_TRY(check_name(alias, "alias"));
    return Status();
  }
  if (definition->kind == DecompositionKind::replicated) definition->box = whole;
  if (definition->kind == DecompositionKind::boxes && whole.dimensions == 0)
    return fail(EINVAL, "variable '%s': a scalar has no blocks; CAIRN_REPLICATED", shown.c_str());
  Box& box = definition->box;
  box.dimensions = whole.dimensions;
  if (definition->kind == DecompositionKind::boxes) {
    box.count = view.counts();
    // A rank without elements gets an empty box, wherever its box was.
    if (is_empty(box)) box = {whole.dimensions, {}, {}};
  }
  if (!fits(box, whole.count))
    return fail(EINVAL, "variable '%s': its block %s lies outside of the global array %s",
                shown.c_str(), cairn::checkpoint::shown(box).c_str(),
                cairn::checkpoint::shown(whole).c_str());
  if (!is_empty(box) && !has_counts(view, box))
    return fail(EINVAL, "variable '%s': the array has %s elements without halo, its block is %s",
                shown.c_str(), cairn::checkpoint::shown(counts_of(view)).c_str(),
                cairn::checkpoint::shown(box).c_str());
  for (const std::string& alias : definition->aliases) CAIRN_TRY(check_name(alias, "alias"));
  return Status();
}

void Definitions::put(const std::string& name, Definition definition) {
  all_[name] = std::move(definition);
  ++changes_;
}

Status Definitions::remove(const std::string& name) {
  if (all_.erase(name) == 0)
    return fail(ENOENT, "variable '%s': is not defined", shown_text(name).c_str());
  ++changes_;
  return Status();
}

}  // namespace cairn::checkpoint
