#include "checkpoint/record/types.h"

#include <array>
#include <cstring>

#include "checkpoint/record/limits.h"
#include "checkpoint/record/records.h"

namespace cairn::checkpoint {
namespace {

constexpr std::array<TypeTraits, 30> all = [] {
  std::array<TypeTraits, 30> traits{};
  const auto set = [&](Type type, const char* name, uint32_t size, bool is_padded = false) {
    traits[static_cast<size_t>(type)] = {name, size, is_padded};
  };
  set(Type::int8, "int8", 1);
  set(Type::int16, "int16", 2);
  set(Type::int32, "int32", 4);
  set(Type::int64, "int64", 8);
  set(Type::uint8, "uint8", 1);
  set(Type::uint16, "uint16", 2);
  set(Type::uint32, "uint32", 4);
  set(Type::uint64, "uint64", 8);
  set(Type::float16, "float16", 2);
  set(Type::bfloat16, "bfloat16", 2);
  set(Type::float32, "float32", 4);
  set(Type::float64, "float64", 8);
  set(Type::float80, "float80", 16, true);
  set(Type::float128, "float128", 16);
  set(Type::complex64, "complex64", 8);
  set(Type::complex128, "complex128", 16);
  set(Type::complex_float80, "complex float80", 32, true);
  set(Type::complex_float128, "complex float128", 32);
  set(Type::logical8, "logical8", 1);
  set(Type::logical16, "logical16", 2);
  set(Type::logical32, "logical32", 4);
  set(Type::logical64, "logical64", 8);
  set(Type::character, "character", 0);
  set(Type::opaque, "opaque", 0);
  return traits;
}();

}  // namespace

const TypeTraits* traits_of(Type type) {
  const auto number = static_cast<size_t>(type);
  return number < all.size() && all[number].name != nullptr ? &all[number] : nullptr;
}

Status check_element(Type type, uint64_t element_size) {
  const TypeTraits* const traits = traits_of(type);
  if (traits == nullptr) return fail(EINVAL, "type: unknown: %u", static_cast<unsigned>(type));
  if (traits->size != 0 && traits->size != element_size)
    return fail(EINVAL, "element size of %s: %llu; expected %u", traits->name,
                static_cast<unsigned long long>(element_size), traits->size);
  if (element_size == 0) return fail(EINVAL, "element size of %s: 0", traits->name);
  if (element_size > max_element_size)
    return fail(EOVERFLOW, "element size of %s: %llu; at most 2^31", traits->name,
                static_cast<unsigned long long>(element_size));
  return Status();
}

bool is_integer(Type type) { return type >= Type::int8 && type <= Type::uint64; }

uint64_t integer_at(const uint8_t* from, Type type) {
  switch (type) {
    case Type::int8:
      return static_cast<uint64_t>(record_at<int8_t>(from));
    case Type::int16:
      return static_cast<uint64_t>(record_at<int16_t>(from));
    case Type::int32:
      return static_cast<uint64_t>(record_at<int32_t>(from));
    case Type::uint8:
      return record_at<uint8_t>(from);
    case Type::uint16:
      return record_at<uint16_t>(from);
    case Type::uint32:
      return record_at<uint32_t>(from);
    default:
      return record_at<uint64_t>(from);
  }
}

void clear_padding(Type type, uint8_t* elements, uint64_t size) {
  if (type != Type::float80 && type != Type::complex_float80) return;
  for (uint64_t at = 0; at + 16 <= size; at += 16) std::memset(elements + at + 10, 0, 6);
}

}  // namespace cairn::checkpoint
