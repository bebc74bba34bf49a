// Keeps this library at the last place in LD_PRELOAD. A profiling tool that intercepts the same
// calls finds the next definition with dlsym(RTLD_NEXT). That definition must be ours, not the C
// library's.
#pragma once

#include <stddef.h>

#include "posix/core/calls.h"

namespace posix::preload {

// Writes `list` into `room` with this library as its last entry, once. `room` has room_for() bytes.
// Returns false if the list is in that order already, or is empty.
size_t room_for(const char* list);
bool put_last(const char* list, char* room);

// Returns true if this entry of such a list is this library.
bool is_own(const char* entry);

// Starts the program of this process again if this library is not at the last place of its
// LD_PRELOAD. Returns if it is, or if nothing tells how the program was started.
void start_again_if_not_last(char* const* arguments, char* const* environment);

// The program of this process, as execve wants it. A script's interpreter has the script's name
// among its arguments. From there on the arguments are the script's, and the system shows the
// process by that name.
struct Program {
  const char* name;
  char* const* arguments;
};
// Calls only functions that no sanitizer intercepts.
Program own_program(char* const* arguments);

// Calls the kernel past our own syscall(), which puts off cancellation by a call that sanitizers
// intercept.
inline long word(long value) { return value; }
inline long word(const void* value) { return reinterpret_cast<long>(value); }
template <typename... Arguments>
long system_call(long number, Arguments... given) {
  const long all[6] = {word(given)...};
  return real::syscall(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

// Keeps the compiler from replacing a loop over text by strlen, memcpy or the like.
inline void keep_loop() { __asm__ volatile("" ::: "memory"); }

}  // namespace posix::preload
