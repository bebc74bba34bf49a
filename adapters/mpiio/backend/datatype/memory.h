// Memory: copies between a program's buffer and bytes without gaps.
#pragma once

#include <cstdint>

#include "mpiio/backend/datatype/layout.h"

namespace mpiio {

// Copy `bytes` bytes of the data of items of this layout at `buffer`, from byte `skip` of the data
// on.
void gather(const Layout& layout, const void* buffer, int64_t skip, char* to, int64_t bytes);
void scatter(const Layout& layout, void* buffer, int64_t skip, const char* from, int64_t bytes);

}  // namespace mpiio
