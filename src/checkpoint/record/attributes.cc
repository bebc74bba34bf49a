#include "checkpoint/record/attributes.h"

#include <algorithm>

#include "checkpoint/record/limits.h"
#include "checkpoint/record/records.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {
namespace {

Status too_much(size_t bytes) {
  return fail(E2BIG, "attributes: %zu bytes; at most 64 KiB", bytes);
}

void fill_up(std::vector<uint8_t>* bytes) { bytes->resize(align(bytes->size(), 8)); }

void append(std::vector<uint8_t>* bytes, std::string_view text) {
  bytes->insert(bytes->end(), text.begin(), text.end());
  fill_up(bytes);
}

}  // namespace

uint64_t attribute_bytes(Type type, uint32_t count) {
  const TypeTraits* const traits = traits_of(type);
  if (traits == nullptr) return 0;
  return uint64_t{std::max<uint32_t>(traits->size, 1)} * count;
}

Status append_attribute(std::vector<uint8_t>* bytes, const Attribute& attribute) {
  CAIRN_TRY(check_name(attribute.key, "attribute"));
  if ((attribute.count == 0 && attribute.type != Type::character) ||
      attribute_bytes(attribute.type, attribute.count) != attribute.values.size())
    return fail(EINVAL, "attribute '%s': %u values of type %u in %zu bytes",
                shown_text(attribute.key).c_str(), attribute.count,
                static_cast<unsigned>(attribute.type), attribute.values.size());
  const uint64_t added =
      sizeof(AttributeRecord) + align(attribute.key.size(), 8) + align(attribute.values.size(), 8);
  if (bytes->size() + added > max_attributes) return too_much(bytes->size() + added);
  const AttributeRecord record{static_cast<uint16_t>(attribute.key.size()),
                               static_cast<uint8_t>(attribute.type), 0, attribute.count};
  append(bytes, {reinterpret_cast<const char*>(&record), sizeof record});
  append(bytes, attribute.key);
  append(bytes, attribute.values);
  return Status();
}

bool AttributeReader::next(Attribute* attribute) {
  if (reader_.left() == 0) return false;
  const auto record = reader_.take<AttributeRecord>();
  attribute->type = static_cast<Type>(record.type);
  attribute->count = record.count;
  attribute->key = reader_.text(record.key_length);
  reader_.align(8);
  const uint64_t size = attribute_bytes(attribute->type, record.count);
  attribute->values = reader_.text(size);
  reader_.align(8);
  is_sound_ = reader_.ok() && (size != 0 || attribute->type == Type::character);
  return is_sound_;
}

Status check_attributes(std::string_view bytes) {
  if (bytes.size() > max_attributes) return too_much(bytes.size());
  AttributeReader reader(bytes);
  Attribute attribute;
  std::string_view last;
  while (reader.next(&attribute)) {
    CAIRN_TRY(check_name(attribute.key, "attribute"));
    if (attribute.key <= last)
      return fail(EINVAL, "attribute '%s': does not ascend", shown_text(attribute.key).c_str());
    last = attribute.key;
  }
  if (!reader.is_sound()) return fail(EINVAL, "attributes: cut off, or of an unknown type");
  return Status();
}

}  // namespace cairn::checkpoint
