// Variable: one variable of a LAYOUT.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "checkpoint/array/runs.h"
#include "checkpoint/record/records.h"
#include "checkpoint/record/types.h"

namespace cairn::checkpoint {

using Halo = std::array<uint16_t, max_dimensions>;

// A decoded entry. Its texts lie in the layout's record and are valid as long as the layout.
struct Variable {
  std::string_view name;
  Type type = Type::opaque;
  bool is_required = false;
  uint64_t element_size = 0;
  uint32_t decomposition = 0;  // index in the layout
  unsigned dimensions = 0;
  Order order{};  // as stored, slowest first
  Halo halo_low{};
  Halo halo_high{};
  std::optional<uint32_t> over;  // indexes of variables
  std::optional<uint32_t> key;
  std::string_view aliases;     // AliasReader
  std::string_view attributes;  // AttributeReader
};

// Decodes an entry. EINVAL: it is unsound, or names texts outside of the heap. The indexes are not
// checked.
Result<Variable> read_variable(const uint8_t* record, std::string_view heap);

// Decodes aliases one after the other.
class AliasReader {
 public:
  explicit AliasReader(std::string_view aliases) : left_(aliases) {}
  // Returns false at the end, or if the rest is not an alias (is_sound).
  bool next(std::string_view* alias);
  [[nodiscard]] bool is_sound() const { return is_sound_; }

 private:
  std::string_view left_;
  bool is_sound_ = true;
};

}  // namespace cairn::checkpoint
