// Copies of covered programs and libraries in memory, for the loader.
#pragma once

#include <stddef.h>

#include "posix/path/lookup.h"

namespace posix {

// A file of the cover, if its number still means that, as a private descriptor that the kernel can
// execute or map; a negative errno.
int copy_to_memory(cairn_ino ino, uint64_t generation, const char* name);

// A private descriptor, or a negative errno. At `count` places of the file the copy says nothing (a
// tag of the dynamic section that no loader knows).
int changed_copy(const Found& found, const uint64_t* dropped, size_t count);

// The loader knows a library again by every name under which it was asked for, without opening
// anything, while it is loaded. So each copy gets a name of its own: "/proc/self/fd", then `turn`
// in bits, "/." or "/", then "/COPY". At the start of a program the turn is 0, later no turn comes
// twice. It is as long as the file's own path at the least, which is written over it where the
// loader keeps it as soon as the library is there. The room that it needs, and the name:
size_t room_for_name(const char* path);
void name_for_loader(int copy, unsigned turn, const char* path, char* name);
// Takes the copy's number from such a name; -1: it is none.
int copy_of_name(const char* name);
// In place.
void give_own_name(const char* name, const char* path);

}  // namespace posix
