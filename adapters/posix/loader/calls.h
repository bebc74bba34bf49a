// serve::NAME for the calls of the loader (calls.def).
#pragma once

#include "posix/core/calls.h"

#define POSIX_CALLS "posix/loader/calls.def"
#include "posix/core/declare_calls.inc"
