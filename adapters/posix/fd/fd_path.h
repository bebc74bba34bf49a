// What open files are called: the paths that /proc/self/fd/N leads to for a program on a plain
// directory.
#pragma once

#include <stddef.h>

#include "posix/fd/table.h"

namespace posix::fd_path {

// The absolute path of a directory of ours; its length or a negative errno.
long path_of(const Cover* cover, cairn_ino directory, char* path, size_t capacity);

// By which name the file was opened.
void remember(Entry* entry, cairn_ino parent, const char* name);

// The path of an open file as the kernel would show it, with " (deleted)" if it has lost its name;
// its length or a negative errno. A file that was moved to another directory, or has another name
// there, counts as deleted.
long path_of(const Entry* entry, char* path, size_t capacity);

}  // namespace posix::fd_path
