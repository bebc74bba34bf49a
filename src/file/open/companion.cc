#include "file/open/companion.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "file/inode/attributes.h"

namespace cairn::file {

std::string companion_path(const FileSystem& fs, const Map& map) {
  char name[64];
  std::snprintf(name, sizeof name, "/companion/%llu.%llu",
                static_cast<unsigned long long>(map.number),
                static_cast<unsigned long long>(map.inode->generation.load()));
  return fs.pool.home + name;
}

Result<int> open_companion(const File& file) {
  const std::string path = companion_path(*file.fs, file.map());
  if ((file.inode->flags.load() & format::flag_companion) == 0)
    CAIRN_TRY(set_flags(*file.fs, file.number, format::flag_companion, 0));
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail(errno, "%s: %s", path.c_str(), strerror(errno));
  // The mode allows the companion for processes that change their user. The companion is empty, and
  // its directory is closed to all others. Only its owner can change the mode; it is opened in any
  // case.
  struct stat st {};
  const int before = errno;
  if (fstat(fd, &st) == 0 && (st.st_mode & 0777) != 0666 && fchmod(fd, 0666) != 0) errno = before;
  return fd;
}

}  // namespace cairn::file
