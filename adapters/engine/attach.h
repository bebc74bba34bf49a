// The process's place in the pool: taken at the first covered path, not at load.
#pragma once

#include "posix/engine.h"

namespace posix {

struct Cover;

extern cairn_pool* pool;  // nullptr until attached

// Attaches if need be. 0 or a negative errno; says once why it does not work.
int attach();
// Attaches, and joins this cover. kEnded: the cover is no more, its directory is an ordinary one.
constexpr int kEnded = 1;
int join(Cover* cover);

// Attaches, and joins all covers, as far as it can be done; says nothing. For a process that is
// about to become a user who could not attach.
void attach_before_change();

// The device number that covered files show.
dev_t device_number();

}  // namespace posix
