// serve::NAME for the calls that change the user (calls.def).
#pragma once

#include "posix/core/calls.h"

#define POSIX_CALLS "posix/credentials/calls.def"
#include "posix/core/declare_calls.inc"
