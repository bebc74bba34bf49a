#include "checkpoint/restart/match.h"

#include "base/long_detail.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {
namespace {

std::optional<uint32_t> find_stored(const std::string& name, const Definition& definition,
                                    const Layout& layout) {
  if (const auto found = layout.find(name)) return found;
  for (const std::string& alias : definition.aliases)
    if (const auto found = layout.find(alias)) return found;
  return std::nullopt;
}

std::string type_text(Type type, uint64_t element_size) {
  const TypeTraits* const traits = traits_of(type);
  std::string text = traits == nullptr ? "unknown type" : traits->name;
  if (traits != nullptr && traits->size == 0) text += " of " + std::to_string(element_size);
  return text;
}

// Returns true if each dimension of `stored` has elements, and not more than `whole`.
bool is_within(const Box& stored, const Box& whole) {
  if (stored.dimensions != whole.dimensions) return false;
  for (unsigned k = 0; k < whole.dimensions; ++k)
    if (stored.count[k] == 0 || stored.count[k] > whole.count[k]) return false;
  return true;
}

// Returns how the stored variable differs from the defined one, or "".
std::string difference(const Definition& definition, const Contents& stored,
                       const Variable& variable, bool may_be_larger) {
  const ArrayView& view = definition.place.view;
  if (variable.type != view.type() || variable.element_size != view.element_size())
    return "is " + type_text(variable.type, variable.element_size) + ", not " +
           type_text(view.type(), view.element_size());
  const Decomposition& decomposition = stored.decomposition_of(variable);
  const bool counts = definition.is_counted();
  if (decomposition.is_counted() != counts || (counts && decomposition.kind() != definition.kind))
    return "has another kind of distribution";
  if (counts) return variable.key.has_value() == definition.key.empty() ? "has another key" : "";
  const bool is_alike = decomposition.whole() == definition.whole;
  if (!is_alike && !(may_be_larger && is_within(decomposition.whole(), definition.whole)))
    return "is " + shown(decomposition.whole()) + ", not " + shown(definition.whole);
  return "";
}

}  // namespace

Result<Matches> match(const Definitions& definitions, const Contents& stored, bool may_be_larger) {
  Matches matches;
  std::string missing;
  std::string different;
  for (const auto& [name, definition] : definitions.all()) {
    const auto found = find_stored(name, definition, stored.layout());
    if (!found && !definition.is_required) {
      matches.missing.push_back({&name, &definition, 0});
    } else if (!found) {
      missing += (missing.empty() ? "'" : ", '") + shown_text(name) + "'";
    } else {
      const std::string how =
          difference(definition, stored, stored.layout().variable(*found), may_be_larger);
      if (!how.empty())
        different += (different.empty() ? "'" : "; '") + shown_text(name) + "' " + how;
      matches.found.push_back({&name, &definition, *found});
    }
  }
  if (!missing.empty() && !different.empty())
    return fail_at_length(ENODATA, "missing: " + missing + "; different: " + different);
  if (!missing.empty()) return fail_at_length(ENODATA, "missing: " + missing);
  if (!different.empty()) return fail_at_length(EINVAL, different);
  return matches;
}

}  // namespace cairn::checkpoint
