// Permission bits, checked as the kernel does for whom the pool does not belong to root: a pool is
// private to its user, so this keeps programs honest (a read-only file refuses to be written), not
// users apart.
#pragma once

#include <sys/types.h>

#include "posix/core/engine.h"

namespace posix {

// want: R_OK, W_OK, X_OK. 0 or -EACCES. `real_ids` as access(2) asks.
int permitted(const cairn_stat& st, int want, bool real_ids = false);
// Asks for each directory that a path goes through whether the caller may search it; nullptr: he
// may all.
cairn_search search_as_caller(bool real_ids);
// As permitted(), for a directory given by number.
int permitted_in(cairn_ino dir, int want);
// May the caller remove or rename `st` in `dir`? Looks at write permission and the sticky bit.
int may_remove(cairn_ino dir, const cairn_stat& st);
// May the caller change the mode, times or owner? 0 or -EPERM.
int owns(const cairn_stat& st);
// May the caller give another name to it? As fs.protected_hardlinks asks. 0 or -EPERM.
int may_link(const cairn_stat& st);
// The mode of what the caller makes in `dir`: S_ISGID goes, with the group's right to execute, if
// the caller is not in the directory's group. To be asked before the umask is applied, as in the
// kernel.
mode_t mode_in(cairn_ino dir, mode_t mode);
// Is the caller in this group?
bool in_group(gid_t group);

}  // namespace posix
