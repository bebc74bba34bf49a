#include "machine/file_name.h"

#include <fcntl.h>
#include <stdio.h>  // NOLINT: renameat2
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "text/error.h"

namespace cairn::cli {

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

int give_name(int from, const std::string& name, int to, const std::string& new_name,
              bool replaces) {
  const unsigned flags = replaces ? 0 : RENAME_NOREPLACE;
  int result = renameat2(from, name.c_str(), to, new_name.c_str(), flags);
  // Some file systems know no flags; a link does not replace either.
  if (result != 0 && errno == EINVAL && !replaces) {
    result = linkat(from, name.c_str(), to, new_name.c_str(), 0);
    if (result == 0) unlinkat(from, name.c_str(), 0);
  }
  return result == 0 ? 0 : errno;
}

void sync_directory(int descriptor, const std::string& path) {
  if (fsync(descriptor) != 0 && errno != EINVAL)
    throw Error(exit_failed, system_error(path, errno));
}

std::string random_digits() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    throw Error(exit_failed, system_error("random numbers", errno));
  return fmt::format("{:016x}", number);
}

}  // namespace cairn::cli
