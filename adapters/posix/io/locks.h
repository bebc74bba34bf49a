// Record locks and flock, taken on the inode's hidden companion file, where the kernel's rules
// hold:
//   - POSIX locks belong to the process and go when it closes any descriptor of the file. One
//   companion
//     descriptor per inode stands for all of them; closing it lets go.
//   - flock and OFD locks belong to the open file description. Its companion descriptor is shared
//   like
//     the description itself: with dup'ed descriptors, with children, with the program after exec.
#pragma once

#include <fcntl.h>
#include <stddef.h>

#include "posix/fd/table.h"

namespace posix::locks {

// fcntl's F_GETLK, F_SETLK, F_SETLKW and their OFD forms, on descriptor `number`. 0 or a negative
// errno.
int record(Entry* entry, int number, int command, struct flock* lock);

// A descriptor of this entry's file is being closed, and no longer in the table.
void descriptor_closed(Entry* entry);

// Over exec: the companion that this process's POSIX locks on an inode are on (-1: none), and, in
// the new program, that it is `fd`. Whoever closes it lets go.
int process_companion(cairn_ino ino);
void adopt_process_companion(cairn_ino ino, int fd);

// Before fork: descriptions that others will share need their companion now.
void share(Entry* entry);

// Releases, in the child of a fork, what another thread of the parent held.
void after_fork();

}  // namespace posix::locks
