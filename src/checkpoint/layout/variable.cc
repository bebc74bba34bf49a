#include "checkpoint/layout/variable.h"

#include <algorithm>
#include <cstring>

#include "checkpoint/record/attributes.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {
namespace {

// Returns false if the text does not lie in the heap.
bool take(std::string_view heap, uint32_t offset, uint32_t length, std::string_view* text) {
  if (offset > heap.size() || length > heap.size() - offset) return false;
  *text = heap.substr(offset, length);
  return true;
}

std::optional<uint32_t> index_of(uint32_t number) {
  return number == 0 ? std::nullopt : std::optional<uint32_t>(number - 1);
}

Status check_aliases(std::string_view aliases) {
  AliasReader reader(aliases);
  std::string_view alias;
  while (reader.next(&alias)) CAIRN_TRY(check_name(alias, "alias"));
  return reader.is_sound() ? Status() : fail(EINVAL, "aliases: cut off");
}

}  // namespace

Result<Variable> read_variable(const uint8_t* record, std::string_view heap) {
  const auto fixed = record_at<VariableRecord>(record);
  Variable variable;
  if (!take(heap, fixed.name_offset, fixed.name_length, &variable.name) ||
      !take(heap, fixed.aliases_offset, fixed.aliases_length, &variable.aliases) ||
      !take(heap, fixed.attributes_offset, fixed.attributes_length, &variable.attributes))
    return fail(EINVAL, "variable: texts beyond the record");
  CAIRN_TRY(check_name(variable.name, "variable"));
  variable.type = static_cast<Type>(fixed.type);
  variable.is_required = (fixed.flags & variable_is_required) != 0;
  variable.element_size = fixed.element_size;
  variable.decomposition = fixed.decomposition;
  variable.dimensions = fixed.dimensions;
  variable.over = index_of(fixed.over);
  variable.key = index_of(fixed.key);
  std::copy_n(fixed.order, max_dimensions, variable.order.begin());
  std::copy_n(fixed.halo_low, max_dimensions, variable.halo_low.begin());
  std::copy_n(fixed.halo_high, max_dimensions, variable.halo_high.begin());
  const std::string shown = shown_text(variable.name);
  Status status = check_element(variable.type, variable.element_size);
  if (status.ok()) status = check_aliases(variable.aliases);
  if (status.ok()) status = check_attributes(variable.attributes);
  if (!status.ok()) return annotate(status, "variable '%s'", shown.c_str());
  if (variable.dimensions > max_dimensions)
    return fail(EINVAL, "variable '%s': %u dimensions: at most %u", shown.c_str(),
                variable.dimensions, max_dimensions);
  if (!is_order(variable.order, variable.dimensions))
    return fail(EINVAL, "variable '%s': the axis order is not a permutation", shown.c_str());
  return variable;
}

bool AliasReader::next(std::string_view* alias) {
  if (left_.empty()) return false;
  uint16_t length = 0;
  is_sound_ = left_.size() >= sizeof length;
  if (!is_sound_) return false;
  std::memcpy(&length, left_.data(), sizeof length);
  left_.remove_prefix(sizeof length);
  is_sound_ = length <= left_.size();
  if (!is_sound_) return false;
  *alias = left_.substr(0, length);
  left_.remove_prefix(length);
  return true;
}

}  // namespace cairn::checkpoint
