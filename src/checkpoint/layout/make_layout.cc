// Makes a layout. It sorts variables and decompositions, so that all ranks make the same bytes.
#include <algorithm>

#include "checkpoint/layout/layout.h"
#include "checkpoint/record/head.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {
namespace {

using Definitions = std::vector<const VariableDefinition*>;

Definitions by_name(const LayoutDefinition& definition) {
  Definitions sorted;
  for (const VariableDefinition& variable : definition.variables) sorted.push_back(&variable);
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  return sorted;
}

std::vector<Sha256Hash> hashes_of(const LayoutDefinition& definition) {
  std::vector<Sha256Hash> hashes;
  for (const VariableDefinition& variable : definition.variables)
    hashes.push_back(variable.decomposition);
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes;
}

// Returns index + 1 of a variable by its name; 0 if there is none.
Result<uint32_t> number_of(const Definitions& sorted, const VariableDefinition& whose,
                           const std::string& name) {
  if (name.empty()) return 0U;
  const auto found =
      std::lower_bound(sorted.begin(), sorted.end(), name,
                       [](const VariableDefinition* variable, const std::string& text) {
                         return variable->name < text;
                       });
  if (found == sorted.end() || (*found)->name != name)
    return fail(EINVAL, "variable '%s': '%s', to which it belongs, is not defined",
                shown_text(whose.name).c_str(), shown_text(name).c_str());
  return static_cast<uint32_t>(found - sorted.begin() + 1);
}

class Heap {
 public:
  // Appends the bytes and returns their place.
  uint32_t add(const void* bytes, size_t size) {
    const size_t at = bytes_.size();
    const auto* from = static_cast<const uint8_t*>(bytes);
    bytes_.insert(bytes_.end(), from, from + size);
    return static_cast<uint32_t>(at);
  }
  void fill_up() { bytes_.resize(align(bytes_.size(), 8)); }
  [[nodiscard]] const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

void add_texts(const VariableDefinition& variable, Heap* heap, VariableRecord* record) {
  record->name_offset = heap->add(variable.name.data(), variable.name.size());
  record->name_length = static_cast<uint16_t>(variable.name.size());
  record->aliases_offset = heap->add(nullptr, 0);
  for (const std::string& alias : variable.aliases) {
    const auto length = static_cast<uint16_t>(alias.size());
    heap->add(&length, sizeof length);
    heap->add(alias.data(), alias.size());
    record->aliases_length += static_cast<uint32_t>(sizeof length + alias.size());
  }
  heap->fill_up();
  record->attributes_offset = heap->add(variable.attributes.data(), variable.attributes.size());
  record->attributes_length = static_cast<uint32_t>(variable.attributes.size());
  heap->fill_up();
}

// Checks lengths before they are stored into fields that are too narrow for invalid ones.
Status check_texts(const VariableDefinition& variable) {
  CAIRN_TRY(check_name(variable.name, "variable"));
  for (const std::string& alias : variable.aliases) CAIRN_TRY(check_name(alias, "alias"));
  if (variable.attributes.size() > max_attributes || variable.aliases.size() > max_attributes)
    return fail(E2BIG, "variable '%s': attributes of %zu bytes, %zu aliases",
                shown_text(variable.name).c_str(), variable.attributes.size(),
                variable.aliases.size());
  return Status();
}

Result<VariableRecord> record_of(const VariableDefinition& variable, const Definitions& sorted,
                                 const std::vector<Sha256Hash>& hashes, Heap* heap) {
  CAIRN_TRY(check_texts(variable));
  VariableRecord record{};
  add_texts(variable, heap, &record);
  record.type = static_cast<uint8_t>(variable.type);
  record.flags = variable.is_required ? variable_is_required : 0;
  record.element_size = variable.element_size;
  record.decomposition = static_cast<uint32_t>(
      std::lower_bound(hashes.begin(), hashes.end(), variable.decomposition) - hashes.begin());
  record.dimensions = static_cast<uint8_t>(std::min(variable.dimensions, 255U));
  const unsigned d = std::min(variable.dimensions, max_dimensions);
  std::copy_n(variable.order.begin(), d, record.order);
  std::copy_n(variable.halo_low.begin(), d, record.halo_low);
  std::copy_n(variable.halo_high.begin(), d, record.halo_high);
  CAIRN_TRY_ASSIGN(over, number_of(sorted, variable, variable.over));
  CAIRN_TRY_ASSIGN(key, number_of(sorted, variable, variable.key));
  record.over = over;
  record.key = key;
  return record;
}

template <typename T>
void append(std::vector<uint8_t>* bytes, const T* values, size_t count) {
  const auto* from = reinterpret_cast<const uint8_t*>(values);
  bytes->insert(bytes->end(), from, from + count * sizeof(T));
}

}  // namespace

Result<Layout> Layout::make(const LayoutDefinition& definition) {
  const Definitions sorted = by_name(definition);
  const std::vector<Sha256Hash> hashes = hashes_of(definition);
  if (sorted.size() > max_variables || hashes.size() > max_decompositions)
    return fail(EOVERFLOW, "layout: %zu variables, %zu decompositions; at most %u and %u",
                sorted.size(), hashes.size(), max_variables, max_decompositions);
  Heap heap;
  std::vector<VariableRecord> variables;
  for (const VariableDefinition* variable : sorted) {
    CAIRN_TRY_ASSIGN(record, record_of(*variable, sorted, hashes, &heap));
    variables.push_back(record);
    if (heap.bytes().size() > max_layout)
      return fail(EOVERFLOW, "layout: more than 256 MiB of names and attributes");
  }
  LayoutRecord fixed{};
  fixed.variables = static_cast<uint32_t>(variables.size());
  fixed.decompositions = static_cast<uint32_t>(hashes.size());
  fixed.ranks = definition.ranks;
  fixed.block_shift = definition.block_shift;
  fixed.packing_rule = 1;
  fixed.pack_limit = definition.pack_limit;
  fixed.alignment = definition.alignment;
  fixed.heap_offset =
      sizeof fixed + sizeof(Sha256Hash) * hashes.size() + sizeof(VariableRecord) * variables.size();
  fixed.heap_length = heap.bytes().size();
  Layout layout;
  append(&layout.record_, &fixed, 1);
  append(&layout.record_, hashes.data(), hashes.size());
  append(&layout.record_, variables.data(), variables.size());
  append(&layout.record_, heap.bytes().data(), heap.bytes().size());
  if (layout.record_.size() > max_layout)
    return fail(EOVERFLOW, "layout: %zu bytes; at most 256 MiB", layout.record_.size());
  seal_record(layout.record_.data(), layout.record_.size(), magic_layout);
  CAIRN_TRY(layout.parse());
  return layout;
}

}  // namespace cairn::checkpoint
