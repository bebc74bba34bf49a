// Checks permission bits as the kernel does for a user other than root. A pool is private to its
// user. So the checks do not keep users apart; they make programs behave as on a plain directory,
// where a read-only file refuses writes.
#pragma once

#include <sys/types.h>

#include "posix/core/engine.h"

namespace posix {

// `want`: R_OK, W_OK, X_OK. Returns 0 or -EACCES. `real_ids`: as access(2) asks.
int permitted(const cairn_stat& st, int want, bool real_ids = false);
// Returns the check whether the caller may search a directory on a path; null if the caller may
// search all.
cairn_search search_as_caller(bool real_ids);
// Checks a directory given by number.
int permitted_in(cairn_ino dir, int want);
// Returns 0 if the caller may remove or rename `st` in `dir`, by write permission and the sticky
// bit.
int may_remove(cairn_ino dir, const cairn_stat& st);
// Returns 0 if the caller may change mode, times and owner, else -EPERM.
int owns(const cairn_stat& st);
// Returns 0 if the caller may give the file another name, by fs.protected_hardlinks, else -EPERM.
int may_link(const cairn_stat& st);
// Returns the mode of a file that the caller makes in `dir`. A file loses S_ISGID if its group may
// execute it and the caller is not in the directory's group. The umask is applied later, as in the
// kernel.
mode_t mode_in(cairn_ino dir, mode_t mode);
// Returns true if the caller is in this group.
bool in_group(gid_t group);

}  // namespace posix
