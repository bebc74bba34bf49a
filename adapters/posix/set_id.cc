#include "posix/set_id.h"

#include <sys/stat.h>
#include <unistd.h>

#include "posix/permission.h"

namespace posix {

unsigned set_ids_lost(const cairn_stat& st) {
  unsigned lost = st.mode & S_ISUID;
  if ((st.mode & S_ISGID) != 0 &&
      ((st.mode & S_IXGRP) != 0 || (geteuid() != 0 && !in_group(st.gid))))
    lost |= S_ISGID;
  return lost;
}

}  // namespace posix
