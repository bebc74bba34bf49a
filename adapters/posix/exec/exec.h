// exec: the search of execvp, which posix_spawnp shares.
#pragma once

#include <stddef.h>

namespace posix {

// Writes the n-th path where execvp looks for `name` into `path`. Returns false after the last one.
bool candidate(const char* name, int n, char* path, size_t capacity);

}  // namespace posix
