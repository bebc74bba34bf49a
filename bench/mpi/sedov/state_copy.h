// StateCopy is what a checkpoint is measured by: the state copied into warm memory, with its CRC.
#pragma once

#include <cstdint>
#include <vector>

#include "pieces.h"

namespace sedov {

class StateCopy {
 public:
  explicit StateCopy(State& state) : state_(state), memory_(bytes_of(state)) {}

  // Returns the CRC, so that no compiler leaves it out.
  uint32_t make();

 private:
  State& state_;
  std::vector<char> memory_;
};

}  // namespace sedov
