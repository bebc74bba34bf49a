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
    while (size > 0) {
      const ssize_t done = pwrite(fd_, bytes, static_cast<size_t>(size), offset);
      if (done <= 0)
        failed("write of " + std::to_string(size) + " bytes at " + std::to_string(offset));
      bytes += done;
      size -= done;
      offset += done;
    }
  }

  void read(void* to, int64_t size, int64_t offset) override {
    auto* bytes = static_cast<char*>(to);
    while (size > 0) {
      const ssize_t done = pread(fd_, bytes, static_cast<size_t>(size), offset);
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
  [[noreturn]] void failed(const std::string& what) const {
    fail(path_, what + " failed: " + std::strerror(errno));
  }

  std::string path_;
  int fd_ = -1;
};

}  // namespace

std::unique_ptr<File> posix_file() { return std::make_unique<PosixFile>(); }

void remove_file(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT)
    fail(path, std::string("remove failed: ") + std::strerror(errno));
}

}  // namespace kernels
