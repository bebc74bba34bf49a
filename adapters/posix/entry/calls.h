// serve::NAME for the calls that belong to no other folder (calls.def).
#pragma once

#include "posix/core/calls.h"

#define POSIX_CALLS "posix/entry/calls.def"
#include "posix/core/declare_calls.inc"
