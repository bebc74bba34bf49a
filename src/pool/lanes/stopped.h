// Stopped processes, for a process that waits for one. A lane's process number is a hint
// (format/lane.h): seen from another container it may be another process's. So it decides nothing
// that cannot be undone or has not been waited for. A lane does not record the PID namespace of its
// number, so in containers that share a pool but no PID namespace the state may be another
// process's.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

enum class Motion { goes_on, stopped, held_by_debugger };
Motion motion_of(int pid);
// Returns the state of the owner of a lock word that is not void.
Motion motion_of_owner(const Pool& pool, uint64_t lock_word);

}  // namespace cairn::pool
