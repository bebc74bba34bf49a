// serve::NAME for the calls on names (calls.def).
#pragma once

#include "posix/core/calls.h"

#define POSIX_CALLS "posix/names/calls.def"
#include "posix/core/declare_calls.inc"

namespace posix::serve {
char* current_directory_name();  // get_current_dir_name
}  // namespace posix::serve
