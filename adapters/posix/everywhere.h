// Names in a job on several hosts that the pools of all of them have: directories, symbolic links, FIFOs, sockets, and the files that lie in
// the covered directory (cairn/shared.h).
// In any other process, and below another covered directory, in this node's pool.
#pragma once

#include "posix/find.h"

namespace posix::everywhere {

// The calls on what find() has found; 0 or a negative errno.
int mkdir(const Found& found, mode_t mode);
int symlink(const char* target, const Found& found);
int rmdir(const Found& found);
// Of a directory.
int chmod(const cairn_stat& st, mode_t mode);
// Anything but a directory. On other hosts it goes if they have it too.
int unlink(const Found& found);
// rename(2) of anything that is ordinary here. On other hosts directories and symbolic links are renamed, and what they know of
// the names goes.
int rename(const Found& from, const Found& to, unsigned flags);
// Makes an ordinary file, on one host only, or a FIFO or socket. -EEXIST: it is there.
int mknod(const Found& found, mode_t mode);
// A further name of what is no directory. -ESTALE: it is another one by now.
int link(const cairn_stat& st, const Found& found);
// The same, and opens it; `flags` as for cairn_open(), with O_CREAT. Where O_EXCL does not ask for -EEXIST it is -ESTALE: look again.
int create(const Found& found, int flags, mode_t mode, cairn_file** file);
// An ordinary file that is here is about to be written.
int claim(const Found& found);

}  // namespace posix::everywhere
