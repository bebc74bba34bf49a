// Processes, as /proc shows them.
#pragma once

namespace cairn::cli {

// 0 for the first process, and for one that cannot be seen.
int parent_of(int pid);

}  // namespace cairn::cli
