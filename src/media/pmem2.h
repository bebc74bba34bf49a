// What libpmem2 knows about a dax file or device, if it is installed.
#pragma once

#include "persist/core/granularity.h"

namespace cairn::media {

// The granularity that libpmem2 finds for a mapping of `descriptor`, or `otherwise` when the
// library is not there or refuses. Loads libpmem2.so.1 at the first call: only for dax candidates,
// so that programs on tmpfs and plain files never get it into their address space.
persist::Granularity pmem2_granularity(int descriptor, persist::Granularity otherwise);

}  // namespace cairn::media
