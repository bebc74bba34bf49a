#include "machine/shared_memory_left.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "machine/file_name.h"

namespace cairn::cli {
namespace {

constexpr const char* place = "/dev/shm";
constexpr const char* prefix = "cairn-mpiio-";
constexpr time_t young_s = 10;  // the process that made it may not have locked it yet

// Opens and locks a file. If this gets the lock, the file is left over. No descriptor: see errno.
DataFile lock_left(const DataFile& directory, const std::string& name) {
  DataFile file(
      openat(directory.descriptor(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC),
      name);
  if (file.descriptor() < 0) return file;
  const struct stat st = file.status();
  const bool is_ours = S_ISREG(st.st_mode) && st.st_uid == geteuid();
  if (is_ours && time(nullptr) - st.st_mtime > young_s &&
      flock(file.descriptor(), LOCK_EX | LOCK_NB) == 0)
    return file;
  errno = EBUSY;
  return {-1, name};
}

}  // namespace

std::vector<std::string> list_shared_memory_left() {
  std::vector<std::string> found;
  const DataFile directory(open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC), place);
  if (directory.descriptor() < 0) return found;
  for (const std::string& name : names_in(directory.descriptor(), place))
    if (name.starts_with(prefix) && lock_left(directory, name).descriptor() >= 0)
      found.push_back(std::string(place) + "/" + name);
  return found;
}

int remove_shared_memory_left(const std::string& path) {
  const DataFile directory = open_directory(place);
  const std::string name = name_of(path);
  const DataFile file = lock_left(directory, name);
  if (file.descriptor() < 0) return errno;
  if (!has_name(directory, name, file)) return ENOENT;
  return unlinkat(directory.descriptor(), name.c_str(), 0) == 0 ? 0 : errno;
}

}  // namespace cairn::cli
