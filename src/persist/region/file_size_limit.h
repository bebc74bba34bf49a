// The process's RLIMIT_FSIZE. The kernel holds it against every write to a segment that lies beyond
// it, though the segment does not grow, and by default ends the process (SIGXFSZ): there the copy
// goes through the mapping, of which it asks nothing.
#pragma once

#include <cstdint>

namespace cairn::persist {

// Reads the limit: when a region is opened, and after whoever changed it.
void note_file_size_limit();

// May the kernel write to a file up to `end`?
bool kernel_may_write(uint64_t end);

}  // namespace cairn::persist
