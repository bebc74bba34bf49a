// The types of elements.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace cairn::checkpoint {

enum class Type : uint8_t {
  int8 = 1,
  int16 = 2,
  int32 = 3,
  int64 = 4,
  uint8 = 5,
  uint16 = 6,
  uint32 = 7,
  uint64 = 8,
  float16 = 9,
  bfloat16 = 10,
  float32 = 11,
  float64 = 12,
  float80 = 13,
  float128 = 14,
  complex64 = 17,
  complex128 = 18,
  complex_float80 = 19,
  complex_float128 = 20,
  logical8 = 24,
  logical16 = 25,
  logical32 = 26,
  logical64 = 27,
  character = 28,
  opaque = 29,
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
