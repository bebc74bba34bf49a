// Attributes between the C API and records.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cairn/checkpoint.h"

namespace cairn::capi {

// Encodes attributes as records hold them. EINVAL: a type, a key, or a key twice; EFAULT; E2BIG:
// more than 64 KiB.
Result<std::vector<uint8_t>> encode_attributes(const cairn_attribute* attributes, uint32_t count);

// Attributes of a record, for a caller. It owns all that they point to.
class AttributeList {
 public:
  AttributeList() = default;
  AttributeList(const AttributeList&) = delete;
  AttributeList& operator=(const AttributeList&) = delete;

  // In place of those that it had. `bytes` are sound.
  void read(std::string_view bytes);
  [[nodiscard]] const cairn_attribute* begin() const { return list_.data(); }
  [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(list_.size()); }

 private:
  std::vector<uint64_t> bytes_;   // aligned for values of 8 bytes
  std::deque<std::string> keys_;  // a record's keys have no end mark
  std::vector<cairn_attribute> list_;
};

}  // namespace cairn::capi
