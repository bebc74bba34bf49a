// Direction: the way of bytes between a program's buffer and a file.
#pragma once

#include <cstdint>

namespace mpiio {

enum class Direction : uint8_t { read, write };

}  // namespace mpiio
