// The lock file of a pool on a device. A device has no file whose bytes all its users could lock:
// containers have device nodes of their own. So the pool lies on the device and its locks on a file
// in shared memory, and the pool records which file that is (State::lock_identity: boot, device and
// inode of the file, and a random token in it). A process that sees another file under that name,
// as in a container with a /dev/shm of its own, is refused: it could not see which processes are
// alive.
//
// The word changes when the boot is another one (no process can be attached any more), and when the
// pool was detached cleanly (none is).
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

// Sets pool.home and pool.lock_path: .device-UUID in the user's own place in /dev/shm
// (media/own_place.h) and `lock` in it. The pool's identity must be known.
Status name_lock_file(Pool& pool);

// Makes the directory and the lock file, unless they exist, and makes the file the one in force.
// ESTALE: another one is, and processes may be attached through it. For a pool attached for reading
// nothing is made or changed.
Status agree_on_lock_file(Pool& pool);

// Checks the lock file after the first attach has cleared State::clean: ESTALE if another lock file
// came into force in that moment.
Status confirm_lock_file(Pool& pool);

// Removes the directory with the lock file and the files beside it.
void remove_lock_file(const Pool& pool);

}  // namespace cairn::pool
