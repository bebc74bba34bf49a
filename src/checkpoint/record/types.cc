#include "checkpoint/record/types.h"

#include <array>
#include <cstring>

#include "checkpoint/record/limits.h"
#include "checkpoint/record/records.h"

namespace cairn::checkpoint {
namespace {

constexpr size_t numbers = 1 + UINT8_MAX;  // that a Type can have
using TypeName = std::array<char, 20>;

// Returns a type's name for messages: "complex float80".
constexpr TypeName shown_name(const char* name) {
  TypeName shown{};
  for (size_t i = 0; name[i] != 0; ++i) shown[i] = name[i] == '_' ? ' ' : name[i];
  return shown;
}

constexpr std::array<TypeName, numbers> names = [] {
  std::array<TypeName, numbers> texts{};
#define CAIRN_TYPE(NAME, name, number, ...) texts[number] = shown_name(#name);
#include "cairn/types.def"
  return texts;
}();

constexpr std::array<TypeTraits, numbers> all = [] {
  std::array<TypeTraits, numbers> traits{};
#define CAIRN_TYPE(NAME, name, number, size, is_padded, text) \
  traits[number] = {names[number].data(), size, is_padded};
#include "cairn/types.def"
  return traits;
}();

}  // namespace

const TypeTraits* traits_of(Type type) {
  const auto number = static_cast<size_t>(type);
  return all[number].name != nullptr ? &all[number] : nullptr;
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
  if (!all[static_cast<size_t>(type)].is_padded) return;
  for (uint64_t at = 0; at + 16 <= size; at += 16) std::memset(elements + at + 10, 0, 6);
}

}  // namespace cairn::checkpoint
