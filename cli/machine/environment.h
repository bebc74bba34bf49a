// The environment of this process.
#pragma once

#include <cstdlib>
#include <string>

namespace cairn::cli {

// The value of a variable; "" if it is not set.
inline std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace cairn::cli
