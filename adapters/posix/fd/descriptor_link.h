// The symbolic links behind our descriptors: made, read, and told from those of others.
//
// Anybody can make a link with a text such as ours, open it and pass it to a process. A link counts
// only if no other user can have made it: see is_like() and lies_beside().
#pragma once

#include <stddef.h>

namespace posix::descriptor_link {

// A descriptor of a new link with this text, which has been removed already; -errno. Close-on-exec.
int make(const char* text);

// What stands after the pool in the text of a link of this pool; nullptr: this is something else.
const char* read(int fd, char* text, size_t capacity);

// Does it belong to the same user as `own`, which this process has made, and lie on the same file
// system, and has it been removed? No other user can give a link this owner there.
bool is_like(int fd, int own);

// Does it lie in the same directory as `own`, and in the same mount, and can no other user write to
// that directory? Where a process cannot make links in the pool's own one, nothing is. So no
// process of ours can have been led to make this link for another user, as by an archive that it
// unpacks.
bool lies_beside(int fd, int own);

}  // namespace posix::descriptor_link
