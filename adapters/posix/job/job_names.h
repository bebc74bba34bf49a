// Names in a job on several hosts that the pools of all of them have: directories, symbolic links,
// FIFOs, sockets, and the files that lie in the covered directory (cairn/adapter/shared.h). In any
// other process, and below another covered directory, in this node's pool.
#pragma once

#include "posix/path/lookup.h"

namespace posix::job_names {

// The calls on what find() has found; 0 or a negative errno.
int mkdir(const Found& found, mode_t mode);
int symlink(const char* target, const Found& found);
int rmdir(const Found& found);
// What is left out stays as it is.
struct Attributes {
  uint32_t mode = UINT32_MAX;
  uint32_t uid = UINT32_MAX;
  uint32_t gid = UINT32_MAX;
  int64_t atime = CAIRN_TIME_OMIT;
  int64_t mtime = CAIRN_TIME_OMIT;
};
// Of a file on this host; of all else on all hosts, by the name by which it was `found`, or by all
// that it has.
int set(const cairn_stat& st, const Found* found, const Attributes& to);
// Anything but a directory. On other hosts it goes if they have it too.
int unlink(const Found& found);
// rename(2) of anything that is ordinary here. On other hosts directories and symbolic links are
// renamed, and what they know of the names goes.
int rename(const Found& from, const Found& to, unsigned flags);
// Makes an ordinary file, on one host only, or a FIFO or socket. -EEXIST: it is there.
int mknod(const Found& found, mode_t mode);
// A further name of what is no directory. -ESTALE: it is another one by now.
int link(const cairn_stat& st, const Found& found);
// The same, and opens it; `flags` as for cairn_open(), with O_CREAT. Where O_EXCL does not ask for
// -EEXIST it is -ESTALE: look again.
int create(const Found& found, int flags, mode_t mode, cairn_file** file);
// An ordinary file that is here is about to be written.
int claim(const Found& found);

}  // namespace posix::job_names
