// Definitions: the variables that this process has defined.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "checkpoint/array/array_view.h"
#include "checkpoint/array/darray.h"
#include "checkpoint/array/decomposition.h"
#include "checkpoint/layout/layout.h"

namespace cairn::checkpoint {

// Where an array lies.
struct ArrayPlace {
  ArrayView view;
  uint8_t* base = nullptr;
};
enum class ArrayUse : uint8_t { to_write = 1, to_fill = 2 };
// Says where an array lies now. `count`: the elements of a counted one that is about to be filled.
using ArrayGetter = std::function<Result<ArrayPlace>(ArrayUse use, uint64_t count)>;

struct Definition {
  // Or boxes, darray, or a counted one.
  DecompositionKind kind = DecompositionKind::replicated;
  Owner owner = Owner::nobody;
  Box whole;  // the global array
  // This rank's part of it; of a replicated array the whole, of a darray the places of the part.
  Box box;
  Darray darray;  // of kind darray
  ArrayPlace place;
  ArrayGetter getter;  // empty: it stays there
  bool is_required = true;
  std::vector<std::string> aliases;
  std::vector<uint8_t> default_value;  // an element; empty: none
  std::vector<uint8_t> attributes;
  std::string over;  // the variable whose cells it belongs to; empty: none
  std::string key;   // the variable that says the cell of each element

  // This rank's part of the global array. Of a darray all ranks have agreed that it is dealt out.
  [[nodiscard]] Section section(uint32_t rank) const;
  // Where the array lies now. EINVAL: it is another array than was defined.
  [[nodiscard]] Result<ArrayPlace> find(ArrayUse use, uint64_t count = 0) const;
};

// EINVAL, EOVERFLOW: the array does not hold its part. `definition->box` is complete afterwards.
Status check_definition(const std::string& name, Definition* definition);

class Definitions {
 public:
  // In place of one with this name that is there.
  void put(const std::string& name, Definition definition);
  // ENOENT.
  Status remove(const std::string& name);
  [[nodiscard]] const std::map<std::string, Definition>& all() const { return all_; }
  // How often they were changed.
  [[nodiscard]] uint64_t changes() const { return changes_; }

 private:
  std::map<std::string, Definition> all_;
  uint64_t changes_ = 0;
};

}  // namespace cairn::checkpoint
