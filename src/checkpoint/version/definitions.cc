#include "checkpoint/version/definitions.h"

#include <algorithm>

#include "checkpoint/layout/attributes.h"
#include "checkpoint/layout/text.h"

namespace cairn::checkpoint {
namespace {

bool has_counts(const ArrayView& view, const Box& box) {
  return view.dimensions() == box.dimensions &&
         std::equal(box.count.begin(), box.count.begin() + box.dimensions, view.counts().begin());
}

Box counts_of(const ArrayView& view) { return {view.dimensions(), {}, view.counts()}; }

}  // namespace

Result<ArrayPlace> Definition::find(ArrayUse use) const {
  ArrayPlace now = place;
  if (getter) {
    CAIRN_TRY_ASSIGN(got, getter(use));
    now = got;
    if (now.view.type() != place.view.type() ||
        now.view.element_size() != place.view.element_size() || !has_counts(now.view, box))
      return fail(EINVAL, "the getter gave an array of another type or shape");
  }
  if (now.base == nullptr && !is_empty(counts_of(now.view)))
    return fail(use == ArrayUse::to_write ? ENODATA : EFAULT, "it has no memory");
  return now;
}

Status check_definition(const std::string& name, Definition* definition) {
  CAIRN_TRY(check_name(name, "variable"));
  const std::string shown = shown_text(name);
  const ArrayView& view = definition->place.view;
  const Box& whole = definition->whole;
  if (view.dimensions() != whole.dimensions)
    return fail(EINVAL, "variable '%s': the array has %u dimensions, its global array %u",
                shown.c_str(), view.dimensions(), whole.dimensions);
  if (!volume(whole))
    return fail(EOVERFLOW, "variable '%s': more than 2^62 elements", shown.c_str());
  if (definition->kind == DecompositionKind::replicated) definition->box = whole;
  if (definition->kind == DecompositionKind::boxes && whole.dimensions == 0)
    return fail(EINVAL, "variable '%s': a scalar has no blocks; CAIRN_REPLICATED", shown.c_str());
  Box& box = definition->box;
  box.dimensions = whole.dimensions;
  if (definition->kind == DecompositionKind::boxes) {
    box.count = view.counts();
    // Nothing of the array is here, wherever that is.
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
