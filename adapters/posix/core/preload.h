// Our place in LD_PRELOAD: the last one. Who interposes the same calls as we do, a profiling tool
// say, finds what comes after it with dlsym(RTLD_NEXT): that must be us, not what we stand in front
// of.
#pragma once

#include <stddef.h>

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

}  // namespace posix::preload
