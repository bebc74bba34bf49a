// The process's RLIMIT_FSIZE. The kernel applies it to every write to a segment beyond it, although
// the segment does not grow, and by default ends the process (SIGXFSZ). So such copies go through
// the mapping, to which the limit does not apply.
#pragma once

#include <cstdint>

namespace cairn::persist {

// Reads the limit: called when a region is opened, and after a change of the limit.
void note_file_size_limit();

// Returns true if the kernel may write to a file up to `end`.
bool kernel_may_write(uint64_t end);

}  // namespace cairn::persist
