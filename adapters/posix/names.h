// What creating, removing, moving and linking names have in common.
#pragma once

#include "posix/find.h"

namespace posix {

// A place for a new name: outside (1), or a negative errno, or 0 with a name that does not exist.
int find_free(int dir, const char* path, Found* found);

// A relative path from a descriptor that is none.
bool is_nowhere(int dir, const char* path);

// What a change of names returns. ESTALE: the directory went away since it was found.
int done(int error);

}  // namespace posix
