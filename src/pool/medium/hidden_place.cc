#include "pool/medium/hidden_place.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "pool/medium/pool_directory.h"

namespace cairn::pool {
namespace {

constexpr const char* prefix = ".cairn-unfinished-";

// -1 with EBUSY if a process has the lock, ESTALE if the place has gone meanwhile. A file system
// without locks has no places that are known to be left over.
int open_locked(const std::string& path, bool lock_needed) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return -1;
  const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
  int error = locked || (!lock_needed && errno != EWOULDBLOCK) ? 0
              : errno == EWOULDBLOCK                           ? EBUSY
                                                               : errno;
  struct stat mine {};
  struct stat named {};
  if (error == 0 && (fstat(fd, &mine) != 0 || lstat(path.c_str(), &named) != 0 ||
                     mine.st_dev != named.st_dev || mine.st_ino != named.st_ino))
    error = ESTALE;
  if (error == 0 && mine.st_uid != geteuid()) error = EPERM;
  if (error == 0) return fd;
  close(fd);
  errno = error;
  return -1;
}

// The detail of a failure on the way here is not to be lost: what is not there is not looked for.
void take_apart(const std::string& place) {
  const std::string pool = place + "/pool";
  if (access(pool.c_str(), F_OK) == 0) take_pool_apart(pool);
  rmdir(place.c_str());
}

void remove_those_left_over(const std::string& parent) {
  DIR* directory = opendir(parent.c_str());
  if (directory == nullptr) return;
  std::vector<std::string> found;
  while (const dirent* entry = readdir(directory)) {
    if (is_hidden_place(entry->d_name)) found.push_back(parent + "/" + entry->d_name);
  }
  closedir(directory);
  for (const std::string& path : found) remove_hidden_place(path).ignore();
}

}  // namespace

std::string plain_path(const std::string& path) {
  std::string plain = path.substr(0, path.find_last_not_of('/') + 1);
  if (plain.empty()) return path;
  const std::string last = plain.substr(plain.find_last_of('/') + 1);
  char real[PATH_MAX];
  const bool is_named = last != "." && last != "..";
  return is_named || realpath(plain.c_str(), real) == nullptr ? plain : real;
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_empty_directory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  DIR* directory = fd < 0 ? nullptr : fdopendir(fd);
  if (directory == nullptr) {
    if (fd >= 0) close(fd);
    return false;
  }
  bool empty = true;
  while (const dirent* entry = readdir(directory))
    empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
  closedir(directory);
  return empty;
}

bool is_hidden_place(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return path.compare(slash == std::string::npos ? 0 : slash + 1, strlen(prefix), prefix) == 0;
}

Status remove_hidden_place(const std::string& path) {
  const int fd = open_locked(path, true);
  if (fd < 0 && errno == EBUSY)
    return fail(EBUSY, "%s: another process is creating or removing a pool in it", path.c_str());
  if (fd < 0) return fail(errno, "%s: %s", path.c_str(), strerror(errno));
  take_apart(path);
  close(fd);
  if (access(path.c_str(), F_OK) == 0)
    return fail(ENOTEMPTY, "%s: other files lie in it and were left", path.c_str());
  return Status();
}

HiddenPlace::~HiddenPlace() {
  if (path_.empty()) return;
  take_apart(path_);
  close(descriptor_);
}

Status HiddenPlace::make(const std::string& pool) {
  const std::string parent = parent_of(pool);
  remove_those_left_over(parent);
  for (;;) {
    std::string path = parent + "/" + prefix + "XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
      return fail(errno, "%s: %s", pool.c_str(), strerror(errno));
    descriptor_ = open_locked(path, false);
    if (descriptor_ >= 0) {
      path_ = path;
      return Status();
    }
    // Taken for left over before it was locked: it goes, and another one is made.
    if (errno == EBUSY || errno == ESTALE || errno == ENOENT) continue;
    const int error = errno;
    rmdir(path.c_str());
    return fail(error, "%s: %s", path.c_str(), strerror(error));
  }
}

Status HiddenPlace::take(const std::string& pool) {
  if (rename(pool.c_str(), inside().c_str()) == 0) return Status();
  return fail(errno, "%s: %s", pool.c_str(), strerror(errno));
}

Status HiddenPlace::give_name(const std::string& pool) {
  if (rename(inside().c_str(), pool.c_str()) == 0) return Status();
  const int error = errno == ENOTEMPTY || errno == ENOTDIR ? EEXIST : errno;
  return fail(error, "%s: %s", pool.c_str(), strerror(error));
}

}  // namespace cairn::pool
