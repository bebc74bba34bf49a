// Paths of open files, as /proc/self/fd/N shows them for a program on a plain directory.
#pragma once

#include <stddef.h>

#include "posix/fd/table.h"

namespace posix::fd_path {

// Writes the absolute path of a directory of ours. Returns its length or a negative errno.
long path_of(const Cover* cover, cairn_ino directory, char* path, size_t capacity);

// Remembers the name by which the file was opened.
void remember(Entry* entry, cairn_ino parent, const char* name);

// Writes the path of an open file as the kernel shows it, with " (deleted)" if the file has lost
// its name. Returns its length or a negative errno. A file that was moved to another directory
// counts as deleted; so does one that has another name there.
long path_of(const Entry* entry, char* path, size_t capacity);

}  // namespace posix::fd_path
