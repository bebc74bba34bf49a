// The side of a copy that reads or writes ordinary files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <set>

#include "commands/copy_side.h"
#include "machine/file_name.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

[[noreturn]] void failed(const std::string& path) {
  throw Error(exit_failed, system_error(path, errno));
}

class LocalFile : public OpenFile {
 public:
  LocalFile(const std::string& path, int descriptor) : path_(path), descriptor_(descriptor) {
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

// Each directory on the way to a copied file has one spelling: "a//b/" is "a/b".
std::string plain(const std::string& path) {
  std::string text;
  for (const char letter : path)
    if (letter != '/' || !text.ends_with('/')) text += letter;
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

// The place to which a path leads: a name in an open directory, or the user's own argument.
struct Place {
  int directory;
  std::string name;
  // Links in an argument are followed. Below it others may have put one.
  bool is_argument = false;
  [[nodiscard]] int no_follow() const { return is_argument ? 0 : O_NOFOLLOW; }
};

// The directories on the way from an argument to what is copied now, each of them open.
class Way {
 public:
  void name_argument(const std::string& path) { arguments_.insert(plain(path)); }
  Place place_of(const std::string& given) {
    const std::string path = plain(given);
    leave_to(path);
    if (arguments_.contains(path)) return {AT_FDCWD, path, true};
    const std::string above = directory_of(path);
    for (const DataFile& one : open_)
      if (one.path() == above) return {one.descriptor(), name_of(path)};
    fail("{}: neither an argument nor a name in an open directory", given);
  }
  // `no_follow`: O_NOFOLLOW also for an argument, or 0.
  const DataFile& enter(const std::string& given, int no_follow = 0) {
    if (const DataFile* const there = find(given)) return *there;
    const Place place = place_of(given);
    DataFile directory(openat(place.directory, place.name.c_str(),
                              O_PATH | O_DIRECTORY | O_CLOEXEC | place.no_follow() | no_follow),
                       plain(given));
    if (directory.descriptor() < 0) failed(given);
    open_.push_back(std::move(directory));
    return open_.back();
  }
  // Null: it is not open.
  const DataFile* find(const std::string& given) {
    const std::string path = plain(given);
    leave_to(path);
    return !open_.empty() && open_.back().path() == path ? &open_.back() : nullptr;
  }

 private:
  // Closes those that are not on the way to `path`.
  void leave_to(const std::string& path) {
    const auto is_on_way = [&](const std::string& directory) {
      return path == directory || directory == "/" || path.starts_with(directory + "/");
    };
    while (!open_.empty() && !is_on_way(open_.back().path())) open_.pop_back();
  }

  std::set<std::string> arguments_;
  std::vector<DataFile> open_;
};

class LocalSide : public Side {
 public:
  void name_argument(const std::string& path) override { way_.name_argument(path); }
  std::optional<SideStat> look(const std::string& path, bool follow) override {
    const Place place = way_.place_of(path);
    struct stat st {};
    if (fstatat(place.directory, place.name.c_str(), &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
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
    return names_in(way_.enter(path).descriptor(), path);
  }
  std::string link_target(const std::string& path) override {
    const Place place = way_.place_of(path);
    char target[PATH_MAX];
    const ssize_t length = readlinkat(place.directory, place.name.c_str(), target, sizeof target);
    if (length < 0) failed(path);
    return {target, static_cast<size_t>(length)};
  }
  void make_directory(const std::string& path, uint32_t mode) override {
    const Place place = way_.place_of(path);
    if (mkdirat(place.directory, place.name.c_str(), mode) == 0)
      way_.enter(path, O_NOFOLLOW);
    else if (errno != EEXIST)
      failed(path);
  }
  void enter(const std::string& path) override { way_.enter(path); }
  void make_link(const std::string& target, const std::string& path) override {
    const Place place = way_.place_of(path);
    const char* const name = place.name.c_str();
    if (symlinkat(target.c_str(), place.directory, name) == 0) return;
    if (errno != EEXIST || unlinkat(place.directory, name, 0) != 0 ||
        symlinkat(target.c_str(), place.directory, name) != 0)
      failed(path);
  }
  std::unique_ptr<OpenFile> open_to_read(const std::string& path) override {
    return open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  }
  std::unique_ptr<OpenFile> open_to_write(const std::string& path, uint32_t mode) override {
    return open_file(path, O_RDWR | O_CREAT | O_TRUNC, mode);
  }
  void set_mode(const std::string& path, uint32_t mode) override {
    if (const DataFile* const directory = way_.find(path)) return set_mode_of(*directory, mode);
    const Place place = way_.place_of(path);
    const DataFile file(
        openat(place.directory, place.name.c_str(), O_PATH | O_CLOEXEC | place.no_follow()), path);
    if (file.descriptor() < 0) failed(path);
    if (S_ISLNK(file.status().st_mode)) fail("{}: replaced by a symbolic link meanwhile", path);
    set_mode_of(file, mode);
  }
  void set_times(const std::string& path, const SideStat& st) override {
    const auto spec = [](int64_t time_ns) {
      // Times before 1970 round down.
      int64_t seconds = time_ns / 1'000'000'000;
      if (time_ns % 1'000'000'000 < 0) --seconds;
      return timespec{seconds, time_ns - seconds * 1'000'000'000};
    };
    const timespec times[2] = {spec(st.atime_ns), spec(st.mtime_ns)};
    const DataFile* const directory = way_.find(path);
    const Place place =
        directory == nullptr ? way_.place_of(path) : Place{directory->descriptor(), "."};
    if (utimensat(place.directory, place.name.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0)
      failed(path);
  }
  std::optional<uint64_t> free_bytes() override { return std::nullopt; }
  [[nodiscard]] std::string show(const std::string& path) const override { return path; }

 private:
  static void set_mode_of(const DataFile& file, uint32_t mode) {
    if (chmod(file.by_descriptor().c_str(), mode) != 0) failed(file.path());
  }
  std::unique_ptr<OpenFile> open_file(const std::string& path, int flags, uint32_t mode) {
    const Place place = way_.place_of(path);
    const int descriptor =
        openat(place.directory, place.name.c_str(), flags | O_CLOEXEC | place.no_follow(), mode);
    if (descriptor < 0 && errno == ELOOP && !place.is_argument)
      fail("{}: a symbolic link, which is not followed; remove it, or name what it leads to", path);
    return std::make_unique<LocalFile>(path, descriptor);
  }

  Way way_;
};

}  // namespace

std::unique_ptr<Side> local_side() { return std::make_unique<LocalSide>(); }

}  // namespace cairn::cli
