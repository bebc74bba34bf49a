// Dimensions of a netCDF file: how those of a checkpoint's variables are called, and which of them
// have a variable of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sets/ckpt_set.h"

namespace cairn::cli {

struct NetcdfDimension {
  std::string name;
  uint64_t size = 0;
  std::optional<size_t> coordinate;  // the variable of its name, which has this dimension alone
};

struct NetcdfDimensions {
  std::vector<NetcdfDimension> dimensions;
  // The indexes of each variable's dimensions, with that of the bytes of an element.
  std::vector<std::vector<size_t>> of_variable;
};

// Names come from the attribute "dimensions". A variable without one gets names made of extents.
// Throws if an attribute does not fit its variable, or one name has two sizes.
NetcdfDimensions name_dimensions(const std::vector<CkptVariable>& variables);

}  // namespace cairn::cli
