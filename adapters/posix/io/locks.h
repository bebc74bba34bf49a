// Record locks and flock. They are taken on a hidden companion file of the inode, where the
// kernel's rules apply:
// - POSIX locks belong to the process and end when it closes any descriptor of the file. One
//   companion descriptor per inode stands for all of them. The process closes it to release them.
// - flock and OFD locks belong to the open file description. Its companion descriptor is shared as
//   the description is: with duplicated descriptors, with children, with the program after exec.
#pragma once

#include <fcntl.h>
#include <stddef.h>

#include "posix/fd/table.h"

namespace posix::locks {

// Serves fcntl's F_GETLK, F_SETLK, F_SETLKW and their OFD forms, on descriptor `number`. Returns 0
// or a negative errno.
int record(Entry* entry, int number, int command, struct flock* lock);

// Call it when a descriptor of this entry's file is being closed and is no longer in the table.
void descriptor_closed(Entry* entry);

// Before an exec, process_companion() returns the companion for this process's POSIX locks on an
// inode, or -1. In the new program, adopt_process_companion() notes that `fd` is that companion.
// Closing it releases the locks.
int process_companion(cairn_ino ino);
void adopt_process_companion(cairn_ino ino, int fd);

// Call it before a fork: a description that others will share needs its companion now.
void share(Entry* entry);

// Releases, in the child of a fork, what another thread of the parent held.
void after_fork();

}  // namespace posix::locks
