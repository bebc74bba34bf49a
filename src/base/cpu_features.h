// <sys/platform/x86.h>, glibc's own answer to what the CPU has, where there is one (2.33 and
// newer): then CAIRN_LIBC_KNOWS_CPU is 1. In a virtual machine each cpuid instruction traps; asking
// again was a quarter of what an attach cost.
#pragma once

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#define CAIRN_LIBC_KNOWS_CPU 1
// The header says _Bool in C++ too, which clang knows in GNU dialects only.
#if defined(__clang__) && defined(__STRICT_ANSI__)
#pragma push_macro("_Bool")
#undef _Bool
#define _Bool bool
#include <sys/platform/x86.h>
#pragma pop_macro("_Bool")
#else
#include <sys/platform/x86.h>
#endif
#else
#define CAIRN_LIBC_KNOWS_CPU 0
#endif
