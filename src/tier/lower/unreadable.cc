#include "tier/lower/unreadable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tier/system/open_files.h"
#include "tier/system/system.h"

namespace cairn::tier {

int64_t reopen_unreadable(int fd, int flags) {
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(fd, &st); result < 0) return result;
  if (st.st_uid != geteuid()) return -EACCES;
  const uint32_t needed = S_ISDIR(st.st_mode) ? S_IRWXU : S_IRUSR;
  // This path means the open file; a name could get another file in between.
  const std::string same = path_of_open(fd);
  const int64_t result = sys::chmodat(AT_FDCWD, same.c_str(), (st.st_mode & 07777) | needed);
  return result < 0 ? result : sys::openat(AT_FDCWD, same.c_str(), flags & ~O_NOFOLLOW);
}

int64_t open_unreadable(int64_t path_only, int flags) {
  if (path_only < 0) return path_only;
  const sys::Descriptor closed(static_cast<int>(path_only));
  return reopen_unreadable(closed.get(), flags);
}

}  // namespace cairn::tier
