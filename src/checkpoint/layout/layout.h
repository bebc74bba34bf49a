// Layout: lists the contents of a version, for all ranks. It owns the bytes of its record, and only
// these go to a medium. It decodes a variable on request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "base/status.h"
#include "checkpoint/layout/variable.h"
#include "checkpoint/record/limits.h"

namespace cairn::checkpoint {

// A variable from which a layout is made.
struct VariableDefinition {
  std::string name;
  Type type = Type::opaque;
  bool is_required = true;
  uint64_t element_size = 0;
  Sha256Hash decomposition{};
  unsigned dimensions = 0;  // of counted kinds: 1
  Order order{};
  Halo halo_low{};
  Halo halo_high{};
  std::string over;  // names of variables; empty: none
  std::string key;
  std::vector<std::string> aliases;
  std::vector<uint8_t> attributes;  // as append_attribute() makes them
};

struct LayoutDefinition {
  uint32_t ranks = 0;
  uint8_t block_shift = 20;
  uint32_t pack_limit = 16384;
  uint32_t alignment = 4096;
  std::vector<VariableDefinition> variables;  // in any order
};

class Layout {
 public:
  Layout() = default;
  Layout(Layout&&) = default;
  Layout& operator=(Layout&&) = default;
  Layout(const Layout&) = delete;  // texts of it are found by address
  Layout& operator=(const Layout&) = delete;

  // Checks a whole record, except what decompositions contain. EUCLEAN, EPROTONOSUPPORT.
  static Result<Layout> read(std::vector<uint8_t> record);
  // Makes a layout. EINVAL: the text has the variable's name. EOVERFLOW: beyond the limits.
  static Result<Layout> make(const LayoutDefinition& definition);

  [[nodiscard]] uint32_t variables() const { return fixed_.variables; }
  // Returns the i-th variable by name; i < variables().
  [[nodiscard]] Variable variable(uint32_t i) const;
  [[nodiscard]] std::optional<uint32_t> find(std::string_view name) const;
  [[nodiscard]] uint32_t decompositions() const { return fixed_.decompositions; }
  [[nodiscard]] Sha256Hash decomposition_hash(uint32_t i) const;
  [[nodiscard]] uint32_t ranks() const { return fixed_.ranks; }
  [[nodiscard]] uint64_t block_bytes() const { return uint64_t{1} << fixed_.block_shift; }
  [[nodiscard]] uint64_t pack_limit() const { return fixed_.pack_limit; }
  [[nodiscard]] uint64_t alignment() const { return fixed_.alignment; }

  [[nodiscard]] const std::vector<uint8_t>& record() const { return record_; }
  [[nodiscard]] const Sha256Hash& hash() const { return hash_; }

 private:
  Status parse();
  Status check_fixed() const;
  [[nodiscard]] const uint8_t* variable_record(uint32_t i) const;
  [[nodiscard]] std::string_view heap() const;

  std::vector<uint8_t> record_;
  LayoutRecord fixed_{};
  Sha256Hash hash_{};
};

}  // namespace cairn::checkpoint
