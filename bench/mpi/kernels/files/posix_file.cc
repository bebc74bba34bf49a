#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/job.h"
#include "files/file.h"

namespace kernels {
namespace {

class PosixFile : public File {
 public:
  explicit PosixFile(PosixCalls calls) : seeks_(calls == PosixCalls::lseek) {}

  void open(const std::string& path, Open how) override {
    path_ = path;
    const int flags = how == Open::read    ? O_RDONLY
                      : how == Open::write ? O_WRONLY
                                           : O_CREAT | O_RDWR;
    fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
    if (fd_ < 0) failed("open");
  }

  void write(const void* from, int64_t size, int64_t offset) override {
    const auto* bytes = static_cast<const char*>(from);
    seek(offset);
    while (size > 0) {
      const auto wanted = static_cast<size_t>(size);
      const ssize_t done =
          seeks_ ? ::write(fd_, bytes, wanted) : pwrite(fd_, bytes, wanted, offset);
      if (done <= 0)
        failed("write of " + std::to_string(size) + " bytes at " + std::to_string(offset));
      bytes += done;
      size -= done;
      offset += done;
    }
  }

  void read(void* to, int64_t size, int64_t offset) override {
    auto* bytes = static_cast<char*>(to);
    seek(offset);
    while (size > 0) {
      const auto wanted = static_cast<size_t>(size);
      const ssize_t done = seeks_ ? ::read(fd_, bytes, wanted) : pread(fd_, bytes, wanted, offset);
      if (done < 0)
        failed("read of " + std::to_string(size) + " bytes at " + std::to_string(offset));
      if (done == 0) fail(path_, "ends at " + std::to_string(offset) + ", before the data do");
      bytes += done;
      size -= done;
      offset += done;
    }
  }

  void sync() override {
    if (fsync(fd_) != 0) failed("fsync");
  }

  int64_t size() override {
    const off_t end = lseek(fd_, 0, SEEK_END);
    if (end < 0) failed("lseek");
    return end;
  }

  void close() override {
    if (::close(fd_) != 0) failed("close");
  }

 private:
  void seek(int64_t offset) const {
    if (seeks_ && lseek(fd_, offset, SEEK_SET) < 0) failed("lseek to " + std::to_string(offset));
  }

  [[noreturn]] void failed(const std::string& what) const {
    fail(path_, what + " failed: " + std::strerror(errno));
  }

  bool seeks_;
  std::string path_;
  int fd_ = -1;
};

}  // namespace

std::unique_ptr<File> posix_file(PosixCalls calls) { return std::make_unique<PosixFile>(calls); }

void remove_file(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT)
    fail(path, std::string("remove failed: ") + std::strerror(errno));
}

}  // namespace kernels
