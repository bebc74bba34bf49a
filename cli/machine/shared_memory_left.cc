#include "machine/shared_memory_left.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace cairn::cli {
namespace {

constexpr const char* place = "/dev/shm";
constexpr const char* prefix = "cairn-mpiio-";
constexpr time_t young_s = 10;  // the process that made it may not have locked it yet

// Opens and locks a file. If this gets the lock, the file is left over. -1: see errno.
int lock_left(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return -1;
  struct stat st {};
  const bool is_ours = fstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
  if (is_ours && time(nullptr) - st.st_mtime > young_s && flock(file, LOCK_EX | LOCK_NB) == 0)
    return file;
  close(file);
  errno = EBUSY;
  return -1;
}

}  // namespace

std::vector<std::string> list_shared_memory_left() {
  std::vector<std::string> found;
  DIR* names = opendir(place);
  if (names == nullptr) return found;
  while (const dirent* entry = readdir(names)) {
    const std::string name = entry->d_name;
    if (name.rfind(prefix, 0) != 0) continue;
    const std::string path = std::string(place) + "/" + name;
    const int file = lock_left(path);
    if (file < 0) continue;
    close(file);
    found.push_back(path);
  }
  closedir(names);
  std::sort(found.begin(), found.end());
  return found;
}

int remove_shared_memory_left(const std::string& path) {
  const int file = lock_left(path);
  if (file < 0) return errno;
  const int result = unlink(path.c_str()) == 0 ? 0 : errno;
  close(file);
  return result;
}

}  // namespace cairn::cli
