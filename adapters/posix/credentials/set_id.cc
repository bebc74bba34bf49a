#include "posix/credentials/set_id.h"

#include "posix/core/engine.h"
#include "posix/credentials/caller.h"
#include "posix/credentials/permission.h"

namespace posix {

unsigned set_ids_lost(const cairn_stat& st) {
  unsigned lost = st.mode & S_ISUID;
  if ((st.mode & S_ISGID) != 0 &&
      ((st.mode & S_IXGRP) != 0 || (caller::effective_user() != 0 && !in_group(st.gid))))
    lost |= S_ISGID;
  return lost;
}

void take_set_ids(cairn_ino ino) {
  if (caller::effective_user() == 0) return;
  cairn_stat st;
  if (cairn_stat_ino(pool, ino, &st) < 0 || !S_ISREG(st.mode)) return;
  if (unsigned lost = set_ids_lost(st); lost != 0)
    cairn_chmod(pool, ino, st.generation, st.mode & 07777 & ~lost);
}

}  // namespace posix
