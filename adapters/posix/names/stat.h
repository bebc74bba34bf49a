// Converts the state of a Cairn file to what stat shows.
#pragma once

#include <sys/stat.h>

#include "posix/core/engine.h"

namespace posix {

void fill(const cairn_stat& from, struct stat* st);

}  // namespace posix
