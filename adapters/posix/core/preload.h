// Our place in LD_PRELOAD: the last one. Who interposes the same calls as we do, a profiling tool
// say, finds what comes after it with dlsym(RTLD_NEXT): that must be us, not what we stand in front
// of.
#pragma once

#include <stddef.h>

#include "posix/core/calls.h"

namespace posix::preload {

// `list` with this library as the last one in it, once, in a room of that many bytes. False: it is
// that already, or holds nothing at all.
size_t room_for(const char* list);
bool put_last(const char* list, char* room);

// Is this entry of such a list this library?
bool is_own(const char* entry);

// Starts this process's program again with such a list if its own is another; returns if there is
// nothing to do, or no telling how it was started.
void start_again_if_not_last(char* const* arguments, char* const* environment);

// This process's program as execve wants it. A script's interpreter has the script's name among its
// arguments; from there on they are the script's, and by that name the system shows the process.
struct Program {
  const char* name;
  char* const* arguments;
};
// Calls only what no sanitizer intercepts.
Program own_program(char* const* arguments);

// Past syscall(), behind which cancellation is put off by a call that sanitizers intercept.
inline long word(long value) { return value; }
inline long word(const void* value) { return reinterpret_cast<long>(value); }
template <typename... Arguments>
long system_call(long number, Arguments... given) {
  const long all[6] = {word(given)...};
  return real::syscall(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

// In a loop over text, keeps the compiler from calling strlen, memcpy or the like in its place.
inline void keep_loop() { __asm__ volatile("" ::: "memory"); }

}  // namespace posix::preload
