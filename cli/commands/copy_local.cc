// The side of a copy that reads or writes ordinary files.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "commands/copy_side.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

[[noreturn]] void failed(const std::string& path) {
  throw Error(exit_failed, system_error(path, errno));
}

class LocalFile : public OpenFile {
 public:
  LocalFile(const std::string& path, int flags, uint32_t mode)
      : path_(path), descriptor_(open(path.c_str(), flags | O_CLOEXEC, mode)) {
    if (descriptor_ < 0) failed(path);
  }
  ~LocalFile() override {
    if (descriptor_ >= 0) close(descriptor_);
  }
  size_t read(void* buffer, size_t size, uint64_t offset) override {
    for (;;) {
      const ssize_t count = pread(descriptor_, buffer, size, static_cast<off_t>(offset));
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) failed(path_);
    }
  }
  void write(const void* buffer, size_t size, uint64_t offset) override {
    const char* bytes = static_cast<const char*>(buffer);
    while (size > 0) {
      const ssize_t count = pwrite(descriptor_, bytes, size, static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) failed(path_);
      bytes += count;
      size -= static_cast<size_t>(count);
      offset += static_cast<uint64_t>(count);
    }
  }
  std::optional<uint64_t> next_data(uint64_t offset) override {
    const off_t at = lseek(descriptor_, static_cast<off_t>(offset), SEEK_DATA);
    if (at >= 0) return static_cast<uint64_t>(at);
    if (errno == ENXIO) return std::nullopt;
    failed(path_);
  }
  uint64_t next_hole(uint64_t offset) override {
    const off_t at = lseek(descriptor_, static_cast<off_t>(offset), SEEK_HOLE);
    if (at < 0) failed(path_);
    return static_cast<uint64_t>(at);
  }
  void set_size(uint64_t size) override {
    if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) failed(path_);
  }
  void finish(bool sync) override {
    if (sync && fsync(descriptor_) != 0) failed(path_);
    if (close(std::exchange(descriptor_, -1)) != 0) failed(path_);
  }

 private:
  std::string path_;
  int descriptor_;
};

class LocalSide : public Side {
 public:
  std::optional<SideStat> look(const std::string& path, bool follow) override {
    struct stat st {};
    if (fstatat(AT_FDCWD, path.c_str(), &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return std::nullopt;
      failed(path);
    }
    const auto time = [](const timespec& t) {
      return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
    };
    return SideStat{st.st_mode,       static_cast<uint64_t>(st.st_size),
                    st.st_dev,        st.st_ino,
                    time(st.st_atim), time(st.st_mtim)};
  }
  std::vector<std::string> names(
      const std::string& path,
      const std::function<void(const std::string&)>& /*problem*/) override {
    DIR* directory = opendir(path.c_str());
    if (directory == nullptr) failed(path);
    std::vector<std::string> all;
    while (const dirent* entry = readdir(directory)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") all.push_back(name);
    }
    closedir(directory);
    return all;
  }
  std::string link_target(const std::string& path) override {
    char target[PATH_MAX];
    const ssize_t length = readlink(path.c_str(), target, sizeof target);
    if (length < 0) failed(path);
    return {target, static_cast<size_t>(length)};
  }
  void make_directory(const std::string& path, uint32_t mode) override {
    if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST) failed(path);
  }
  void make_link(const std::string& target, const std::string& path) override {
    if (symlink(target.c_str(), path.c_str()) == 0) return;
    if (errno != EEXIST || unlink(path.c_str()) != 0 || symlink(target.c_str(), path.c_str()) != 0)
      failed(path);
  }
  std::unique_ptr<OpenFile> open_to_read(const std::string& path) override {
    return std::make_unique<LocalFile>(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  }
  std::unique_ptr<OpenFile> open_to_write(const std::string& path, uint32_t mode) override {
    return std::make_unique<LocalFile>(path, O_RDWR | O_CREAT | O_TRUNC, mode);
  }
  void set_mode(const std::string& path, uint32_t mode) override {
    if (chmod(path.c_str(), mode) != 0) failed(path);
  }
  void set_times(const std::string& path, const SideStat& st) override {
    const auto spec = [](int64_t time_ns) {
      // Times before 1970 round down.
      int64_t seconds = time_ns / 1'000'000'000;
      if (time_ns % 1'000'000'000 < 0) --seconds;
      return timespec{seconds, time_ns - seconds * 1'000'000'000};
    };
    const timespec times[2] = {spec(st.atime_ns), spec(st.mtime_ns)};
    if (utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) failed(path);
  }
  std::optional<uint64_t> free_bytes() override { return std::nullopt; }
  [[nodiscard]] std::string show(const std::string& path) const override { return path; }
};

}  // namespace

std::unique_ptr<Side> local_side() { return std::make_unique<LocalSide>(); }

}  // namespace cairn::cli
