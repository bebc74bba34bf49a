#include "checkpoint/layout/layout.h"

#include <algorithm>
#include <bit>

#include "checkpoint/record/head.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {
namespace {

constexpr uint8_t packing_rule = 1;

uint64_t variables_offset(const LayoutRecord& fixed) {
  return sizeof fixed + sizeof(Sha256Hash) * uint64_t{fixed.decompositions};
}
uint64_t heap_offset(const LayoutRecord& fixed) {
  return variables_offset(fixed) + sizeof(VariableRecord) * uint64_t{fixed.variables};
}

// Turns an error of a definition into that of a damaged record.
Status damaged(Status cause) {
  if (cause.ok() || cause.code() == EPROTONOSUPPORT) return cause;
  return annotate(Status(EUCLEAN), "damaged");
}

}  // namespace

Result<Layout> Layout::read(std::vector<uint8_t> record) {
  CAIRN_TRY_ASSIGN(length, check_record(record.data(), record.size(), magic_layout, max_layout));
  record.resize(static_cast<size_t>(length));
  Layout layout;
  layout.record_ = std::move(record);
  CAIRN_TRY(damaged(layout.parse()));
  return layout;
}

Status Layout::check_fixed() const {
  if (fixed_.variables > max_variables || fixed_.decompositions > max_decompositions)
    return fail(EOVERFLOW, "layout: %u variables, %u decompositions; at most %u and %u",
                fixed_.variables, fixed_.decompositions, max_variables, max_decompositions);
  if (fixed_.packing_rule != packing_rule)
    return fail(EPROTONOSUPPORT, "layout: packing rule %u; this Cairn knows rule %u",
                fixed_.packing_rule, packing_rule);
  if (fixed_.ranks == 0) return fail(EINVAL, "layout: 0 ranks");
  if (fixed_.block_shift < 18 || fixed_.block_shift > 20)
    return fail(EINVAL, "layout: checksum blocks of 2^%u bytes; expected 2^18 to 2^20",
                fixed_.block_shift);
  if (!std::has_single_bit(fixed_.alignment) || fixed_.alignment < 16 ||
      fixed_.alignment > region_unit)
    return fail(EINVAL, "layout: alignment %u", fixed_.alignment);
  if (fixed_.heap_offset != heap_offset(fixed_) || fixed_.heap_offset > record_.size() ||
      fixed_.heap_length != record_.size() - fixed_.heap_offset)
    return fail(EINVAL, "layout: heap at %llu of %llu bytes, in %zu bytes",
                static_cast<unsigned long long>(fixed_.heap_offset),
                static_cast<unsigned long long>(fixed_.heap_length), record_.size());
  return Status();
}

Status Layout::parse() {
  if (record_.size() < sizeof fixed_) return fail(EINVAL, "layout: %zu bytes", record_.size());
  fixed_ = record_at<LayoutRecord>(record_.data());
  CAIRN_TRY(check_fixed());
  for (uint32_t i = 1; i < fixed_.decompositions; ++i)
    if (decomposition_hash(i - 1) >= decomposition_hash(i))
      return fail(EINVAL, "layout: decomposition %u does not ascend", i);
  std::string_view last;
  for (uint32_t i = 0; i < fixed_.variables; ++i) {
    CAIRN_TRY_ASSIGN(variable, read_variable(variable_record(i), heap()));
    const std::string shown = shown_text(variable.name);
    if (variable.name <= last)
      return fail(EINVAL, "variable '%s': defined twice, or not in ascending order", shown.c_str());
    last = variable.name;
    if (variable.decomposition >= fixed_.decompositions)
      return fail(EINVAL, "variable '%s': invalid decomposition %u: the layout has %u",
                  shown.c_str(), variable.decomposition, fixed_.decompositions);
    for (const auto& other : {variable.over, variable.key})
      if (other && (*other >= fixed_.variables || *other == i))
        return fail(EINVAL, "variable '%s': invalid `over` or `key`: expected another variable",
                    shown.c_str());
  }
  hash_ = content_hash(record_.data(), record_.size());
  return Status();
}

const uint8_t* Layout::variable_record(uint32_t i) const {
  return record_.data() + variables_offset(fixed_) + sizeof(VariableRecord) * size_t{i};
}

std::string_view Layout::heap() const {
  return {reinterpret_cast<const char*>(record_.data()) + fixed_.heap_offset,
          static_cast<size_t>(fixed_.heap_length)};
}

Variable Layout::variable(uint32_t i) const {
  return *read_variable(variable_record(i), heap());  // parse() has checked it
}

Sha256Hash Layout::decomposition_hash(uint32_t i) const {
  return record_at<Sha256Hash>(record_.data() + sizeof fixed_ + sizeof(Sha256Hash) * size_t{i});
}

std::optional<uint32_t> Layout::find(std::string_view name) const {
  uint32_t from = 0;
  uint32_t to = fixed_.variables;
  while (from < to) {
    const uint32_t middle = from + (to - from) / 2;
    const auto record = record_at<VariableRecord>(variable_record(middle));
    const std::string_view other = heap().substr(record.name_offset, record.name_length);
    if (other == name) return middle;
    if (other < name) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return std::nullopt;
}

}  // namespace cairn::checkpoint
