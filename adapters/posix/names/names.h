// What creating, removing, moving and linking names have in common.
#pragma once

#include "posix/path/lookup.h"

namespace posix {

// A place for a new name: outside (1), or a negative errno, or 0 with a name that does not exist.
int find_free(int dir, const char* path, Found* found);

// The kernel's error for a path that cannot be looked up: one that cannot be read, is empty, or
// starts from a closed descriptor.
int check_start(int dir, const char* path, bool may_be_empty = false);

// The kernel's error for one name of a call that lies outside the cover, where the other one is
// covered: the kernel looks up both directories before it finds EXDEV. `free`: the name must not
// exist.
int look_outside(int dir, const char* path, bool free);

// What a change of names returns. ESTALE: the directory went away since it was found.
int done(int error);

}  // namespace posix
