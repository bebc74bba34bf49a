#include "machine/temp_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "machine/file_name.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

[[noreturn]] void failed(const std::string& path) {
  throw Error(exit_failed, system_error(path, errno));
}

}  // namespace

void check_may_create(const std::string& path, bool may_replace) {
  struct stat st {};
  const bool exists = lstat(path.c_str(), &st) == 0;
  if (exists && !may_replace) fail("{}: exists already (--force replaces it)", path);
  if (exists && !S_ISREG(st.st_mode)) fail("{}: is not a file", path);
}

TempFile::TempFile(const std::string& path, bool may_replace)
    : path_(path), may_replace_(may_replace), file_(-1, path) {
  check_may_create(path, may_replace);
  std::string name = path_ + ".XXXXXX.part";
  constexpr int suffix = 5;
  const int descriptor = mkostemps(name.data(), suffix, O_CLOEXEC);
  if (descriptor < 0) failed(path);
  file_ = DataFile(descriptor, path_);
  temp_path_ = name;
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);
}

TempFile::~TempFile() {
  if (!temp_path_.empty()) unlink(temp_path_.c_str());
}

void TempFile::reopen() {
  const int descriptor = open(temp_path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) failed(temp_path_);
  file_ = DataFile(descriptor, path_);
}

void TempFile::publish() {
  file_.close();
  if (const int error = give_name(AT_FDCWD, temp_path_, AT_FDCWD, path_, may_replace_); error != 0)
    throw Error(exit_failed, system_error(path_, error));
  temp_path_.clear();
  const std::string directory = directory_of(path_);
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) failed(directory);
  const DataFile closes(descriptor, directory);
  sync_directory(descriptor, directory);
}

}  // namespace cairn::cli
