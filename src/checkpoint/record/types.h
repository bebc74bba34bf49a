// The types of elements.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace cairn::checkpoint {

enum class Type : uint8_t {
#define CAIRN_TYPE(NAME, name, number, ...) name = number,
#include "cairn/types.def"
};

struct TypeTraits {
  const char* name = nullptr;
  uint32_t size = 0;  // bytes of an element; 0: the variable defines it
  bool is_padded = false;
};
// Returns null if the format has no such type.
const TypeTraits* traits_of(Type type);

// Returns EINVAL for an unknown type or a wrong size. EOVERFLOW: larger than the format allows.
Status check_element(Type type, uint64_t element_size);

bool is_integer(Type type);
// Returns the integer of this type at `from`, as a count or a cell. A negative integer becomes a
// number far beyond all counts and cells.
uint64_t integer_at(const uint8_t* from, Type type);

// Clears the bytes of elements that carry no value, in `size` bytes, so that equal elements have
// equal bytes.
void clear_padding(Type type, uint8_t* elements, uint64_t size);

}  // namespace cairn::checkpoint
