// Copies covered programs and libraries into memory, for the loader.
#pragma once

#include <stddef.h>

#include "posix/path/lookup.h"

namespace posix {

// Copies a file of the cover, if its number still has this generation. Returns a private descriptor
// that the kernel can execute or map, or a negative errno.
int copy_to_memory(cairn_ino ino, uint64_t generation, const char* name);

// Copies a file and voids the dynamic entries at `count` places, by a tag that no loader knows.
// Returns a private descriptor or a negative errno.
int changed_copy(const Found& found, const uint64_t* dropped, size_t count);

// The loader recognises a loaded library by every name under which it was asked for, without
// opening a file. So each copy gets a name of its own: "/proc/self/fd", then `turn` in bits, "/."
// or "/", then "/COPY". The turn is 0 at the start of a program; no later turn comes twice. The
// name is at least as long as the file's own path, which replaces it in the loader's memory as soon
// as the library is loaded.
size_t room_for_name(const char* path);
void name_for_loader(int copy, unsigned turn, const char* path, char* name);
// Reads the copy's number from such a name. Returns -1 for any other name.
int copy_of_name(const char* name);
// Replaces such a name by the path, in place.
void give_own_name(const char* name, const char* path);

}  // namespace posix
