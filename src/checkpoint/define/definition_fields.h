// DefinitionFields: encodes a variable that a rank has defined: first the fields that are equal on
// all ranks, then the rank's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "checkpoint/define/definitions.h"
#include "checkpoint/layout/layout.h"

namespace cairn::checkpoint {

// A variable as all ranks must define it; of `array` only what they must agree on.
struct SharedDefinition {
  VariableDefinition variable;
  DistributedArray array;
};

struct OwnFields {
  Order order;
  uint8_t reserved1;
  Halo halo_low;
  Halo halo_high;
  uint32_t reserved2;
  uint64_t offset[max_dimensions];
  uint64_t count[max_dimensions];
};

template <typename T>
void append(std::vector<uint8_t>* bytes, const T& value) {
  static_assert(std::has_unique_object_representations_v<T>);
  const auto* begin = reinterpret_cast<const uint8_t*>(&value);
  bytes->insert(bytes->end(), begin, begin + sizeof value);
}

inline void append_text(std::vector<uint8_t>* bytes, std::string_view text) {
  append(bytes, static_cast<uint64_t>(text.size()));
  bytes->insert(bytes->end(), text.begin(), text.end());
}

std::vector<uint8_t> encode_shared(const std::string& name, const Definition& one);
OwnFields own_fields(const Definition& one);
// Decodes the shared fields. EINVAL: the bytes are cut off.
Result<SharedDefinition> parse_shared(std::string_view bytes);

}  // namespace cairn::checkpoint
