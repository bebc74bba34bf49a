#include "machine/temp_file.h"

#include <fcntl.h>
#include <stdio.h>  // NOLINT: renameat2
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "text/error.h"

namespace cairn::cli {
namespace {

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

TempFile::TempFile(const std::string& path, bool may_replace)
    : path_(path), directory_(directory_of(path)), may_replace_(may_replace) {
  struct stat st {};
  const bool exists = lstat(path.c_str(), &st) == 0;
  if (exists && !may_replace) fail("{}: exists already (--force replaces it)", path);
  if (exists && !S_ISREG(st.st_mode)) fail("{}: is not a file", path);
  std::string name = path_ + ".XXXXXX.part";
  constexpr int suffix = 5;
  descriptor_ = mkostemps(name.data(), suffix, O_CLOEXEC);
  if (descriptor_ < 0) failed(path);
  temp_path_ = name;
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor_, 0666 & ~mask);
}

TempFile::~TempFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temp_path_.empty()) unlink(temp_path_.c_str());
}

void TempFile::failed(const std::string& path) const {
  throw Error(exit_failed, system_error(path, errno));
}

void TempFile::reopen() {
  close(descriptor_);
  descriptor_ = open(temp_path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor_ < 0) failed(temp_path_);
}

void TempFile::write(const void* bytes, uint64_t size, uint64_t offset) {
  const auto* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = pwrite(descriptor_, from, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed(path_);
    from += n;
    size -= static_cast<uint64_t>(n);
    offset += static_cast<uint64_t>(n);
  }
}

void TempFile::read(void* bytes, uint64_t size, uint64_t offset) const {
  auto* to = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t n = pread(descriptor_, to, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed(path_);
    if (n == 0) fail("{}: is shorter than what was written", path_);
    to += n;
    size -= static_cast<uint64_t>(n);
    offset += static_cast<uint64_t>(n);
  }
}

void TempFile::sync() {
  if (fsync(descriptor_) != 0) failed(path_);
  posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
}

void TempFile::publish() {
  if (close(std::exchange(descriptor_, -1)) != 0) failed(path_);
  const unsigned flags = may_replace_ ? 0 : RENAME_NOREPLACE;
  int result = renameat2(AT_FDCWD, temp_path_.c_str(), AT_FDCWD, path_.c_str(), flags);
  // Some file systems know no flags; a link does not replace either.
  if (result != 0 && errno == EINVAL && !may_replace_) {
    result = link(temp_path_.c_str(), path_.c_str());
    if (result == 0) unlink(temp_path_.c_str());
  }
  if (result != 0) failed(path_);
  temp_path_.clear();
  const int directory = open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) failed(directory_);
  const int synced = fsync(directory);
  const int error = errno;
  close(directory);
  if (synced != 0 && error != EINVAL) throw Error(exit_failed, system_error(directory_, error));
}

}  // namespace cairn::cli
