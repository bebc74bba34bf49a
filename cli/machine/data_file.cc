#include "machine/data_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "text/error.h"

namespace cairn::cli {

DataFile::~DataFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

DataFile::DataFile(DataFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

DataFile& DataFile::operator=(DataFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

void DataFile::failed() const { throw Error(exit_failed, system_error(path_, errno)); }

void DataFile::write(const void* bytes, uint64_t size, uint64_t offset) const {
  const auto* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = pwrite(descriptor_, from, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed();
    from += n;
    size -= static_cast<uint64_t>(n);
    offset += static_cast<uint64_t>(n);
  }
}

void DataFile::read(void* bytes, uint64_t size, uint64_t offset) const {
  auto* to = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t n = pread(descriptor_, to, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failed();
    if (n == 0) fail("{}: is shorter than what was written", path_);
    to += n;
    size -= static_cast<uint64_t>(n);
    offset += static_cast<uint64_t>(n);
  }
}

void DataFile::sync() const {
  if (fsync(descriptor_) != 0) failed();
  posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
}

void DataFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) failed();
}

struct stat DataFile::status() const {
  struct stat st {};
  if (fstat(descriptor_, &st) != 0) failed();
  return st;
}

std::string DataFile::by_descriptor() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

DataFile DataFile::again() const {
  DataFile same(fcntl(descriptor_, F_DUPFD_CLOEXEC, 0), path_);
  if (same.descriptor_ < 0) failed();
  return same;
}

void DataFile::open_to_others() const {
  const mode_t mask = umask(0);
  umask(mask);
  // Some file systems have no modes.
  static_cast<void>(fchmod(descriptor_, 0666 & ~mask));
}

std::optional<DataFile> open_to_read(const std::string& path) {
  // Not to wait for the writer of a fifo.
  DataFile file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC), path);
  if (file.descriptor() < 0) {
    if (errno == ENOENT) return std::nullopt;
    throw Error(exit_failed, system_error(path, errno));
  }
  if (!S_ISREG(file.status().st_mode)) fail("{}: is not a file", path);
  return file;
}

}  // namespace cairn::cli
