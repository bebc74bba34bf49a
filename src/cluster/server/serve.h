// Serve answers the requests of other nodes out of this node's pool and memory.
#pragma once

#include <cstddef>

#include "cluster/rpc/job.h"

namespace cairn::cluster {

// Writes a Reply and what follows it to `reply` (reply_capacity bytes), and returns their size. A
// request that cannot be answered gets an errno and a text.
size_t serve(Job& job, const void* request, size_t size, void* reply);

}  // namespace cairn::cluster
