#include "tier/system/open_files.h"

#include <fcntl.h>

#include "tier/system/system.h"

namespace cairn::tier {

std::string path_of_open(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

int64_t set_times_of_open(int fd, uint64_t atime, uint64_t mtime) {
  return sys::utimensat(AT_FDCWD, path_of_open(fd).c_str(), atime, mtime, sys::Follow::yes);
}

int64_t link_open_file(int fd, int directory, const char* name) {
  return sys::linkat(AT_FDCWD, path_of_open(fd).c_str(), directory, name, AT_SYMLINK_FOLLOW);
}

}  // namespace cairn::tier
