#include "machine/own_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "text/error.h"

namespace cairn::cli {

OwnDirectory OwnDirectory::open_in(const std::string& directory) {
  const int above = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (above < 0) throw Error(exit_failed, system_error(directory, errno));
  constexpr const char* below = ".cairn-checkpoints";
  OwnDirectory all(above, below, directory + "/" + below);
  close(above);
  all.check();
  return all;
}

OwnDirectory OwnDirectory::enter(const std::string& name) const {
  OwnDirectory one(descriptor_, name, path_ + "/" + name);
  one.check();
  return one;
}

OwnDirectory::OwnDirectory(int above, const std::string& name, std::string path)
    : descriptor_(openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
      error_(descriptor_ < 0 ? errno : 0),
      path_(std::move(path)) {}

OwnDirectory::OwnDirectory(OwnDirectory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      error_(other.error_),
      path_(std::move(other.path_)) {}

OwnDirectory::~OwnDirectory() {
  if (descriptor_ >= 0) close(descriptor_);
}

void OwnDirectory::check() const {
  if (descriptor_ < 0) throw Error(exit_failed, system_error(path_, error_));
  struct stat st {};
  if (fstat(descriptor_, &st) != 0) throw Error(exit_failed, system_error(path_, errno));
  if (st.st_uid != geteuid())
    throw Error(exit_failed, fmt::format("{}: belongs to user {}, not to you", path_, st.st_uid));
  constexpr unsigned writable_by_others = 022;
  if ((st.st_mode & writable_by_others) != 0)
    throw Error(exit_failed, fmt::format("{}: others can write to it; chmod go-w", path_));
}

std::vector<std::string> OwnDirectory::names() const {
  const int again = openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const directory = again < 0 ? nullptr : fdopendir(again);
  if (directory == nullptr) {
    const int error = errno;
    if (again >= 0) close(again);
    throw Error(exit_failed, system_error(path_, error));
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(directory))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

bool OwnDirectory::read(const std::string& name, uint64_t most, std::string* text) const {
  // Not to wait for the writer of a fifo.
  const int file =
      openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  struct stat st {};
  bool is_read =
      fstat(file, &st) == 0 && S_ISREG(st.st_mode) && static_cast<uint64_t>(st.st_size) <= most;
  if (is_read) {
    text->resize(static_cast<size_t>(st.st_size));
    size_t had = 0;
    while (is_read && had < text->size()) {
      const ssize_t n = ::read(file, text->data() + had, text->size() - had);
      if (n > 0) had += static_cast<size_t>(n);
      if (n == 0 || (n < 0 && errno != EINTR)) is_read = false;
    }
  }
  close(file);
  return is_read;
}

}  // namespace cairn::cli
