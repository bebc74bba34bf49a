#include "capi/checkpoint/attributes.h"

#include <algorithm>
#include <cstring>

#include "capi/core/handles.h"
#include "checkpoint/record/attributes.h"
#include "checkpoint/record/text.h"

namespace cairn::capi {

namespace ckpt = cairn::checkpoint;

Result<std::vector<uint8_t>> encode_attributes(const cairn_attribute* attributes, uint32_t count) {
  std::vector<const cairn_attribute*> sorted;
  if (count != 0) CAIRN_TRY(check_given(attributes, "attributes"));
  for (uint32_t i = 0; i < count; ++i) {
    CAIRN_TRY(check_given(attributes[i].key, "an attribute's key"));
    CAIRN_TRY(check_given(attributes[i].values, "an attribute's values"));
    sorted.push_back(attributes + i);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::string_view(a->key) < std::string_view(b->key);
  });
  std::vector<uint8_t> bytes;
  std::string_view last;
  for (const cairn_attribute* one : sorted) {
    ckpt::Attribute attribute;
    attribute.key = one->key;
    attribute.type = static_cast<ckpt::Type>(std::min(one->type, 255U));
    attribute.count = one->count;
    if (ckpt::traits_of(attribute.type) == nullptr)
      return fail(EINVAL, "attribute '%s': unknown type %u",
                  ckpt::shown_text(attribute.key).c_str(), one->type);
    if (!bytes.empty() && attribute.key == last)
      return fail(EINVAL, "attribute '%s': is given twice",
                  ckpt::shown_text(attribute.key).c_str());
    last = attribute.key;
    attribute.values = {static_cast<const char*>(one->values),
                        static_cast<size_t>(ckpt::attribute_bytes(attribute.type, one->count))};
    CAIRN_TRY(ckpt::append_attribute(&bytes, attribute));
  }
  return bytes;
}

void AttributeList::read(std::string_view bytes) {
  list_.clear();
  keys_.clear();
  bytes_.assign(bytes.size() / sizeof(uint64_t) + 1, 0);
  if (!bytes.empty()) std::memcpy(bytes_.data(), bytes.data(), bytes.size());
  ckpt::AttributeReader reader({reinterpret_cast<const char*>(bytes_.data()), bytes.size()});
  ckpt::Attribute attribute;
  while (reader.next(&attribute)) {
    keys_.emplace_back(attribute.key);
    list_.push_back({keys_.back().c_str(), static_cast<uint32_t>(attribute.type), attribute.count,
                     attribute.values.data()});
  }
}

}  // namespace cairn::capi
