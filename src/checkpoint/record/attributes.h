// Attributes of a variable or a version: keys with values, in the form of the records.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "base/status.h"
#include "checkpoint/record/types.h"

namespace cairn::checkpoint {

struct Attribute {
  std::string_view key;
  Type type = Type::character;  // characters and opaque bytes: an element has one byte
  uint32_t count = 0;
  std::string_view values;  // the bytes of all values
};

// Returns the bytes that `count` values of a type have; 0 for an unknown type.
uint64_t attribute_bytes(Type type, uint32_t count);

// Appends an attribute to the encoded bytes; keys ascend. EINVAL; E2BIG: 64 KiB would be exceeded.
Status append_attribute(std::vector<uint8_t>* bytes, const Attribute& attribute);

// Returns EINVAL unless `bytes` are whole attributes with ascending keys. E2BIG.
Status check_attributes(std::string_view bytes);

// Decodes attributes one after the other.
class AttributeReader {
 public:
  explicit AttributeReader(std::string_view bytes) : reader_(bytes.data(), bytes.size()) {}
  // Returns false at the end, or if the rest is not an attribute (is_sound).
  bool next(Attribute* attribute);
  [[nodiscard]] bool is_sound() const { return is_sound_; }

 private:
  BoundedReader reader_;
  bool is_sound_ = true;
};

}  // namespace cairn::checkpoint
