// serve::NAME for the calls that the C library makes of others (calls.def).
#pragma once

#include "posix/core/calls.h"

#define POSIX_CALLS "posix/libc/calls.def"
#include "posix/core/declare_calls.inc"
