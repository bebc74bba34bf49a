#include "checkpoint/define/definition_difference.h"

#include <algorithm>
#include <string>

#include "checkpoint/define/definition_fields.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {

std::string shown_counts(unsigned dimensions, const Extents& counts) {
  std::string text;
  for (unsigned k = 0; k < dimensions; ++k)
    text += (k == 0 ? "" : " x ") + std::to_string(counts[k]);
  return text.empty() ? "a scalar" : text;
}

namespace {

std::string shown_type(const SharedFields& fields) {
  const TypeTraits* const traits = traits_of(static_cast<Type>(fields.type));
  if (traits == nullptr) return "type " + std::to_string(fields.type);
  const std::string size = traits->size == 0 ? " of " + std::to_string(fields.element_size) +
                                                   (fields.element_size == 1 ? " byte" : " bytes")
                                             : "";
  return traits->name + size;
}

// Returns the kind's name in cairn_distribution.
std::string shown_kind(uint8_t kind) {
  switch (static_cast<DecompositionKind>(kind)) {
    case DecompositionKind::replicated:
      return "replicated";
    case DecompositionKind::grid:
    case DecompositionKind::boxes:
      return "block";
    case DecompositionKind::darray:
      return "darray";
    case DecompositionKind::ragged:
      return "ragged";
    case DecompositionKind::particles:
      return "particles";
    case DecompositionKind::per_rank:
      return "per rank";
  }
  return std::to_string(kind);
}

std::string shown_name(const std::string& name) {
  return name.empty() ? "none" : "'" + shown_text(name) + "'";
}

std::string shown_extents(const SharedFields& fields) {
  return shown_counts(fields.dimensions, whole_of(fields).count);
}

std::string shown_grid(const Darray& darray) {
  Extents processes{};
  for (unsigned k = 0; k < darray.dimensions; ++k) processes[k] = darray.along[k].processes;
  return shown_counts(darray.dimensions, processes);
}

// Returns text such as "cyclic(64), block": a length that is not the default stands in parentheses.
std::string shown_blocks(const Darray& darray) {
  std::string text;
  for (unsigned k = 0; k < darray.dimensions; ++k) {
    const DarrayRecord& one = darray.along[k];
    text += k == 0 ? "" : ", ";
    text += one.kind == static_cast<uint32_t>(Spread::block)    ? "block"
            : one.kind == static_cast<uint32_t>(Spread::cyclic) ? "cyclic"
                                                                : "whole";
    if (one.argument != 0) text += "(" + std::to_string(one.argument) + ")";
  }
  return text;
}

// Describes the difference between two ranks' definitions of a variable.
std::string find_difference(const VariableDefinition& a, const SharedFields& first,
                            const VariableDefinition& b, const SharedFields& other) {
  const auto both = [](const char* what, const std::string& one, const std::string& another) {
    return std::string(what) + " " + one + " and " + another;
  };
  if (first.kind != other.kind) return both("kind", shown_kind(first.kind), shown_kind(other.kind));
  if (shown_type(first) != shown_type(other))
    return both("type", shown_type(first), shown_type(other));
  if (shown_extents(first) != shown_extents(other))
    return both("global array", shown_extents(first), shown_extents(other));
  if (first.owner != other.owner)
    return both("owner", std::to_string(first.owner), std::to_string(other.owner));
  if (shown_grid(first.darray) != shown_grid(other.darray))
    return both("process grid", shown_grid(first.darray), shown_grid(other.darray));
  if (shown_blocks(first.darray) != shown_blocks(other.darray))
    return both("blocks", shown_blocks(first.darray), shown_blocks(other.darray));
  if (first.darray.rank_order != other.darray.rank_order) return "rank order";
  if (a.over != b.over) return both("over", shown_name(a.over), shown_name(b.over));
  if (a.key != b.key) return both("key", shown_name(a.key), shown_name(b.key));
  if (a.is_required != b.is_required) return "CAIRN_OPTIONAL";
  return a.attributes != b.attributes ? "attributes" : "aliases";
}

}  // namespace

Status differs(std::string_view first, std::string_view other, uint32_t first_rank,
               uint32_t other_rank) {
  VariableDefinition a;
  VariableDefinition b;
  SharedFields fields{};
  SharedFields other_fields{};
  CAIRN_TRY(parse_shared(first, &a, &fields));
  CAIRN_TRY(parse_shared(other, &b, &other_fields));
  if (a.name != b.name)
    return fail(EINVAL, "variable '%s' is defined on only one of the ranks %u and %u",
                shown_text(std::min(a.name, b.name)).c_str(), first_rank, other_rank);
  return fail(EINVAL, "variable '%s' is defined differently on ranks %u and %u: %s",
              shown_text(a.name).c_str(), first_rank, other_rank,
              find_difference(a, fields, b, other_fields).c_str());
}

}  // namespace cairn::checkpoint
