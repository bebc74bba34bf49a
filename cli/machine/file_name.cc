#include "machine/file_name.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>  // NOLINT: renameat2
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

DataFile open_directory(const std::string& path) {
  DataFile directory(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), path);
  if (directory.descriptor() < 0) throw Error(exit_failed, system_error(path, errno));
  return directory;
}

std::vector<std::string> names_in(int directory, const std::string& path) {
  const int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = again < 0 ? nullptr : fdopendir(again);
  if (listing == nullptr) {
    const int error = errno;
    if (again >= 0) close(again);
    throw Error(exit_failed, system_error(path, error));
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(listing)) names.emplace_back(entry->d_name);
  closedir(listing);
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  std::sort(names.begin(), names.end());
  return names;
}

bool has_name(const DataFile& directory, const std::string& name, const DataFile& file) {
  struct stat named {};
  if (fstatat(directory.descriptor(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const struct stat own = file.status();
  return named.st_dev == own.st_dev && named.st_ino == own.st_ino;
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
  const DataFile again(openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), path);
  // A directory that this user may not list cannot be synced either.
  if (again.descriptor() < 0 && errno == EACCES) return;
  if (again.descriptor() < 0 || (fsync(again.descriptor()) != 0 && errno != EINVAL))
    throw Error(exit_failed, system_error(path, errno));
}

std::string random_digits() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    throw Error(exit_failed, system_error("random numbers", errno));
  return fmt::format("{:016x}", number);
}

}  // namespace cairn::cli
