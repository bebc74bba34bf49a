// Makes and reads the symbolic links behind our descriptors, and tells them from links of others.
//
// Any process can make a link with such a text, open it and pass it to another process. A link
// counts only if no other user can have made it: see is_like() and lies_beside().
#pragma once

#include <stddef.h>

namespace posix::descriptor_link {

// Returns a descriptor of a new link with this text, close-on-exec, or a negative errno. The link
// is removed already.
int make(const char* text);

// Returns the text after the pool's path in a link of this pool, or null for anything else.
const char* read(int fd, char* text, size_t capacity);

// Returns true if the link is removed, has the same owner as `own`, which this process made, and
// lies on the same file system. No other user can give a link this owner there.
bool is_like(int fd, int own);

// Returns true if the link lies in the directory and the mount of `own`, and no other user can
// write to that directory. Then no other user can have led a process of ours to make the link, for
// example by an archive that it unpacks. Returns false for every link if this process cannot make
// links in the pool's directory.
bool lies_beside(int fd, int own);

}  // namespace posix::descriptor_link
