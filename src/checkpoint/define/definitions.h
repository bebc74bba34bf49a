// Definitions: the variables that this process has defined.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "checkpoint/array/array_view.h"
#include "checkpoint/array/distribution.h"
#include "checkpoint/layout/layout.h"

namespace cairn::checkpoint {

// An array's place in memory.
struct ArrayPlace {
  ArrayView view;
  uint8_t* base = nullptr;
};
enum class ArrayUse : uint8_t { to_write = 1, to_fill = 2 };
// Returns the array's current place. `count`: the elements of a counted array that is about to be
// filled.
using ArrayGetter = std::function<Result<ArrayPlace>(ArrayUse use, uint64_t count)>;

struct Definition : DistributedArray {
  ArrayPlace place;
  ArrayGetter getter;  // empty: the array does not move
  bool is_required = true;
  std::vector<std::string> aliases;
  std::vector<uint8_t> default_value;  // an element; empty: none
  std::vector<uint8_t> attributes;
  std::string over;  // the variable whose cells it belongs to; empty: none
  std::string key;   // the variable that says the cell of each element

  [[nodiscard]] const Distribution& distribution() const { return distribution_of(kind); }
  // Returns true if the number of this rank's elements is not part of the definition.
  [[nodiscard]] bool is_counted() const { return checkpoint::is_counted(kind); }
  // Returns the part of the global array that this rank of `ranks` holds. All ranks have agreed on
  // the definition.
  [[nodiscard]] Section section(uint32_t rank, uint32_t ranks) const {
    return distribution().section_of(*this, rank, ranks);
  }
  // Returns the array's current place. EINVAL: its shape differs from the definition.
  [[nodiscard]] Result<ArrayPlace> find(ArrayUse use, uint64_t count = 0) const;
};

// Checks a definition; `definition->box` is complete afterwards. EINVAL, EOVERFLOW: the array does
// not hold its part.
Status check_definition(const std::string& name, Definition* definition);

class Definitions {
 public:
  // Adds a definition; replaces one of this name.
  void put(const std::string& name, Definition definition);
  // Returns ENOENT if there is none of this name.
  Status remove(const std::string& name);
  [[nodiscard]] const std::map<std::string, Definition>& all() const { return all_; }
  // Returns how often the definitions were changed.
  [[nodiscard]] uint64_t changes() const { return changes_; }

 private:
  std::map<std::string, Definition> all_;
  uint64_t changes_ = 0;
};

}  // namespace cairn::checkpoint
