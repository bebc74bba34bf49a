// serve::NAME for the calls on open files, descriptors and memory (calls.def).
#pragma once

#include "posix/core/calls.h"

#define POSIX_CALLS "posix/io/calls.def"
#include "posix/core/declare_calls.inc"
