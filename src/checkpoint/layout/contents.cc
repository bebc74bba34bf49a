#include "checkpoint/layout/contents.h"

#include <algorithm>

#include "checkpoint/record/text.h"

namespace cairn::checkpoint {

Result<Contents> Contents::make(Layout layout, std::vector<Decomposition> decompositions) {
  Contents contents;
  contents.layout_ = std::move(layout);
  contents.decompositions_ = std::move(decompositions);
  CAIRN_TRY(contents.check());
  return contents;
}

bool Contents::has_counted() const {
  return std::any_of(decompositions_.begin(), decompositions_.end(),
                     [](const Decomposition& one) { return one.is_counted(); });
}

Status Contents::check() const {
  if (decompositions_.size() != layout_.decompositions())
    return fail(EINVAL, "layout: %zu decompositions are there; it has %u", decompositions_.size(),
                layout_.decompositions());
  for (uint32_t i = 0; i < layout_.decompositions(); ++i) {
    if (decompositions_[i].hash() != layout_.decomposition_hash(i))
      return fail(EINVAL, "layout: decomposition %u differs from its hash", i);
    if (decompositions_[i].ranks() != layout_.ranks())
      return fail(EINVAL, "layout: decomposition %u is for %u ranks, the layout for %u", i,
                  decompositions_[i].ranks(), layout_.ranks());
  }
  for (uint32_t i = 0; i < layout_.variables(); ++i) {
    const Variable variable = layout_.variable(i);
    const Decomposition& decomposition = decomposition_of(variable);
    const unsigned d = decomposition.is_counted() ? 1 : decomposition.dimensions();
    if (variable.dimensions != d)
      return fail(EINVAL, "variable '%s': %u dimensions; its distribution has %u",
                  shown_text(variable.name).c_str(), variable.dimensions, d);
    CAIRN_TRY(check_relations(variable));
  }
  return Status();
}

// Checks that the variables named by `over` and `key` are of a kind that fits.
Status Contents::check_relations(const Variable& variable) const {
  const Counting counting = decomposition_of(variable).counting();
  const bool has_lists = counting == Counting::by_lists;
  const bool has_keys = counting == Counting::by_keys;
  const std::string shown = shown_text(variable.name);
  if (has_lists && !variable.over)
    return fail(EINVAL, "variable '%s': ragged without `over`: name the variable with its counts",
                shown.c_str());
  if (variable.over) {
    const Variable over = layout_.variable(*variable.over);
    if ((!has_lists && !has_keys) || is_counted(over) || over.over)
      return fail(EINVAL, "variable '%s': cannot belong to the cells of '%s'", shown.c_str(),
                  shown_text(over.name).c_str());
    if (has_lists && !is_integer(over.type))
      return fail(EINVAL, "variable '%s': '%s', which counts its values, is not of an integer type",
                  shown.c_str(), shown_text(over.name).c_str());
  }
  if (has_keys && variable.over && !variable.key && !is_integer(variable.type))
    return fail(EINVAL, "variable '%s': expected a key, or values of an integer type",
                shown.c_str());
  if (variable.key) {
    const Variable key = layout_.variable(*variable.key);
    if (!has_keys || decomposition_of(key).counting() != Counting::by_keys || !is_integer(key.type))
      return fail(EINVAL, "variable '%s': invalid key '%s': expected particles of an integer type",
                  shown.c_str(), shown_text(key.name).c_str());
  }
  return Status();
}

}  // namespace cairn::checkpoint
