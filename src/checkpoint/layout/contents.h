// Contents: a layout with its decompositions; together they determine what each rank stores.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "checkpoint/array/decomposition.h"
#include "checkpoint/layout/layout.h"

namespace cairn::checkpoint {

class Contents {
 public:
  Contents() = default;
  // Combines them; `decompositions` come in the order of the layout's hashes. EINVAL: they do not
  // fit together; the text has the variable's name.
  static Result<Contents> make(Layout layout, std::vector<Decomposition> decompositions);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Decomposition& decomposition(uint32_t i) const { return decompositions_[i]; }
  [[nodiscard]] const Decomposition& decomposition_of(const Variable& variable) const {
    return decompositions_[variable.decomposition];
  }
  [[nodiscard]] bool is_counted(const Variable& variable) const {
    return decomposition_of(variable).is_counted();
  }
  // Returns true if a rank has counted variables, so that a part has extents.
  [[nodiscard]] bool has_counted() const;

 private:
  [[nodiscard]] Status check() const;
  [[nodiscard]] Status check_relations(const Variable& variable) const;

  Layout layout_;
  std::vector<Decomposition> decompositions_;
};

}  // namespace cairn::checkpoint
