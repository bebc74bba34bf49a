// Shared by the calls that create, remove, move and link names.
#pragma once

#include "posix/path/lookup.h"

namespace posix {

// Finds a path for a new name. Returns 0 if the name does not exist, 1 if it leads outside, or a
// negative errno.
int find_free(int dir, const char* path, Found* found);

// Returns the kernel's error for a path that cannot be looked up: the memory cannot be read, the
// path is empty, or it starts from a closed descriptor.
int check_start(int dir, const char* path, bool may_be_empty = false);

// Returns the kernel's error for a name outside the cover, where the other name of the call is
// covered: the kernel looks up both directories before it finds EXDEV. `free`: the name must not
// exist.
int look_outside(int dir, const char* path, bool free);

// Returns the result of a change of names. -ESTALE: the directory was removed since it was found.
int done(int error);

}  // namespace posix
