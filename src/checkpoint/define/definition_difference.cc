#include "checkpoint/define/definition_difference.h"

#include <algorithm>
#include <string>

#include "checkpoint/define/definition_fields.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {

namespace {

std::string shown_type(const VariableDefinition& variable) {
  const TypeTraits* const traits = traits_of(variable.type);
  if (traits == nullptr) return "type " + std::to_string(static_cast<unsigned>(variable.type));
  const std::string size = traits->size == 0 ? " of " + std::to_string(variable.element_size) +
                                                   (variable.element_size == 1 ? " byte" : " bytes")
                                             : "";
  return traits->name + size;
}

std::string shown_name(const std::string& name) {
  return name.empty() ? "none" : "'" + shown_text(name) + "'";
}

std::string shown_extents(const DistributedArray& array) {
  return shown_counts(array.whole.dimensions, array.whole.count);
}

std::string shown_owner(const DistributedArray& array) {
  return std::to_string(static_cast<unsigned>(array.owner));
}

// Describes the difference between two ranks' definitions of a variable.
std::string find_difference(const SharedDefinition& first, const SharedDefinition& other) {
  const auto both = [](const char* what, const std::string& one, const std::string& another) {
    return std::string(what) + " " + one + " and " + another;
  };
  const VariableDefinition& a = first.variable;
  const VariableDefinition& b = other.variable;
  if (first.array.kind != other.array.kind)
    return both("kind", shown_kind(first.array.kind), shown_kind(other.array.kind));
  if (shown_type(a) != shown_type(b)) return both("type", shown_type(a), shown_type(b));
  if (shown_extents(first.array) != shown_extents(other.array))
    return both("global array", shown_extents(first.array), shown_extents(other.array));
  if (first.array.owner != other.array.owner)
    return both("owner", shown_owner(first.array), shown_owner(other.array));
  const std::string arguments =
      distribution_of(first.array.kind).difference(first.array, other.array);
  if (!arguments.empty()) return arguments;
  if (a.over != b.over) return both("over", shown_name(a.over), shown_name(b.over));
  if (a.key != b.key) return both("key", shown_name(a.key), shown_name(b.key));
  if (a.is_required != b.is_required) return "CAIRN_OPTIONAL";
  return a.attributes != b.attributes ? "attributes" : "aliases";
}

}  // namespace

Status differs(std::string_view first, std::string_view other, uint32_t first_rank,
               uint32_t other_rank) {
  CAIRN_TRY_ASSIGN(its, parse_shared(first));
  CAIRN_TRY_ASSIGN(others, parse_shared(other));
  const std::string& a = its.variable.name;
  const std::string& b = others.variable.name;
  if (a != b)
    return fail(EINVAL, "variable '%s' is defined on only one of the ranks %u and %u",
                shown_text(std::min(a, b)).c_str(), first_rank, other_rank);
  return fail(EINVAL, "variable '%s' is defined differently on ranks %u and %u: %s",
              shown_text(a).c_str(), first_rank, other_rank, find_difference(its, others).c_str());
}

}  // namespace cairn::checkpoint
