// serve::NAME for the calls that begin processes and programs (calls.def).
#pragma once

#include "posix/core/calls.h"

#define POSIX_CALLS "posix/exec/calls.def"
#include "posix/core/declare_calls.inc"
