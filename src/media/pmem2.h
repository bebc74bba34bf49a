// pmem2: libpmem2's knowledge about a dax file or device, if the library is installed.
#pragma once

#include "persist/core/granularity.h"

namespace cairn::media {

// Returns the granularity that libpmem2 finds for a mapping of `descriptor`, or `otherwise` if the
// library is not there or refuses. Loads libpmem2.so.1 at the first call, only for dax candidates:
// programs on tmpfs and plain files never get it into their address space.
persist::Granularity pmem2_granularity(int descriptor, persist::Granularity otherwise);

}  // namespace cairn::media
