#include "pool/medium/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cairn::pool {
void Directory::close() {
  const int saved = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  errno = saved;
}

Directory& Directory::operator=(Directory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

Status Directory::failed(const std::string& name) const {
  const int error = errno;
  return fail(error, "%s: %s", (name.empty() ? path_ : path_of(name)).c_str(), strerror(error));
}

Result<Directory> Directory::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  Directory directory(descriptor, path);
  if (descriptor < 0) return directory.failed("");
  return directory;
}

Result<Directory> Directory::open_in(const std::string& name, int flags,
                                     const std::string& path) const {
  Directory directory(
      openat(descriptor_, name.c_str(), flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), path);
  if (directory.descriptor_ < 0) return directory.failed("");
  return directory;
}

Result<Directory> Directory::enter(const std::string& name) const {
  return open_in(name, O_PATH, path_of(name));
}

Result<Directory> Directory::again() const { return open_in(".", O_PATH, path_); }

Result<Directory> Directory::readable() const { return open_in(".", O_RDONLY, path_); }

std::string Directory::by_descriptor() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

struct stat Directory::status() const {
  struct stat st {};
  // An open directory can be read by fstat. If not, no user counts as its owner.
  if (fstat(descriptor_, &st) != 0) st.st_uid = static_cast<uid_t>(-1);
  return st;
}

bool Directory::is_closed() const {
  const struct stat st = status();
  if (st.st_uid != geteuid() && st.st_uid != 0) return false;
  return (st.st_mode & 022) == 0 || (st.st_mode & S_ISVTX) != 0;
}

bool Directory::look(const std::string& name, struct stat* st) const {
  return fstatat(descriptor_, name.c_str(), st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool Directory::has(const std::string& name) const {
  struct stat st {};
  return look(name, &st);
}

bool Directory::holds(const std::string& name, const Directory& directory) const {
  struct stat named {};
  const struct stat st = directory.status();
  return look(name, &named) && named.st_dev == st.st_dev && named.st_ino == st.st_ino;
}

Result<std::vector<std::string>> Directory::names() const {
  auto open = readable();
  if (!open.ok()) return open.status();
  DIR* const listing = fdopendir(open->descriptor_);
  if (listing == nullptr) return failed("");
  open->descriptor_ = -1;  // closed with the listing
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(listing)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      names.emplace_back(entry->d_name);
    errno = 0;
  }
  const int error = errno;
  closedir(listing);
  if (error != 0) return fail(error, "%s: list it: %s", path_.c_str(), strerror(error));
  return names;
}

bool Directory::is_empty() const {
  const auto found = names();
  return found.ok() && (*found).empty();
}

std::string Directory::link_target(const std::string& name) const {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(descriptor_, name.c_str(), target, sizeof target);
  return length < 0 ? "" : std::string(target, static_cast<size_t>(length));
}

Status Directory::make(const std::string& name) const {
  return mkdirat(descriptor_, name.c_str(), 0700) == 0 ? Status() : failed(name);
}

Result<std::string> Directory::make_new(const std::string& prefix) const {
  for (;;) {
    unsigned long long number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
      return fail(errno, "getrandom: %s", strerror(errno));
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", number);
    const Status made = make(prefix + digits);
    if (made.ok()) return prefix + digits;
    if (made.code() != EEXIST) return made;
  }
}

Status Directory::make_link(const std::string& target, const std::string& name) const {
  return symlinkat(target.c_str(), descriptor_, name.c_str()) == 0 ? Status() : failed(name);
}

Status Directory::remove(const std::string& name) const {
  return unlinkat(descriptor_, name.c_str(), 0) == 0 ? Status() : failed(name);
}

Status Directory::remove_directory(const std::string& name) const {
  return unlinkat(descriptor_, name.c_str(), AT_REMOVEDIR) == 0 ? Status() : failed(name);
}

Status Directory::rename(const std::string& name, const Directory& to,
                         const std::string& new_name) const {
  return renameat(descriptor_, name.c_str(), to.descriptor_, new_name.c_str()) == 0
             ? Status()
             : to.failed(new_name);
}

Status Directory::sync() const {
  CAIRN_TRY_ASSIGN(open, readable());
  if (fsync(open.descriptor_) == 0) return Status();
  const int error = errno;
  return fail(error, "%s: make its names durable: %s", path_.c_str(), strerror(error));
}

std::string plain_path(const std::string& path) {
  std::string plain = path.substr(0, path.find_last_not_of('/') + 1);
  if (plain.empty()) return path;
  const std::string last = last_of(plain);
  char real[PATH_MAX];
  const bool is_named = last != "." && last != "..";
  return is_named || realpath(plain.c_str(), real) == nullptr ? plain : real;
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string last_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace cairn::pool
