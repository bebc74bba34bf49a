#include "machine/own_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "machine/file_name.h"
#include "text/error.h"

namespace cairn::cli {

OwnDirectory OwnDirectory::open_below(const DataFile& directory, const std::string& name) {
  OwnDirectory one(directory.descriptor(), name, directory.path() + "/" + name);
  one.check();
  return one;
}

OwnDirectory OwnDirectory::make_below(const DataFile& directory, const std::string& name) {
  const std::string path = directory.path() + "/" + name;
  if (mkdirat(directory.descriptor(), name.c_str(), 0700) == 0)
    sync_directory(directory.descriptor(), directory.path());
  else if (errno != EEXIST)
    throw Error(exit_failed, system_error(path, errno));
  OwnDirectory one(directory.descriptor(), name, path);
  one.check();
  return one;
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
  std::vector<std::string> names = names_in(descriptor_, path_);
  std::erase_if(names, [](const std::string& name) { return name.starts_with("."); });
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

bool OwnDirectory::write(const std::string& name, const std::string& text, bool replaces) const {
  const std::string aside = ".new-" + random_digits();
  DataFile file(openat(descriptor_, aside.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600),
                path_ + "/" + name);
  if (file.descriptor() < 0) throw Error(exit_failed, system_error(path_ + "/" + name, errno));
  int error = 0;
  try {
    file.write(text.data(), text.size(), 0);
    file.sync();
    file.close();
    error = give_name(descriptor_, aside, descriptor_, name, replaces);
  } catch (...) {
    unlinkat(descriptor_, aside.c_str(), 0);
    throw;
  }
  if (error == 0) {
    sync_directory(descriptor_, path_);
    return true;
  }
  unlinkat(descriptor_, aside.c_str(), 0);
  if (error != EEXIST || replaces)
    throw Error(exit_failed, system_error(path_ + "/" + name, error));
  return false;
}

void OwnDirectory::remove(const std::string& name) const {
  if (unlinkat(descriptor_, name.c_str(), 0) != 0 && errno != ENOENT)
    throw Error(exit_failed, system_error(path_ + "/" + name, errno));
}

void OwnDirectory::empty() const {
  for (const std::string& name : names_in(descriptor_, path_)) remove(name);
}

}  // namespace cairn::cli
