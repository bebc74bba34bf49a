// System wraps the system calls that tier/ makes on lower, the directory that a cover stands in
// for.
//
// It calls the kernel by number. This code is also part of the preloaded library, which defines
// open, stat and so on itself: by name, the calls would come back to it. Results are the kernel's:
// negative is -errno. No function but failed() sets a detail text.
#pragma once

#include <sys/stat.h>
#include <sys/statfs.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace cairn::tier::sys {

// Makes calls use the C library's own syscall(2). The preloaded library defines syscall(2) too:
// without this, calls of another copy of this code would come back to the pool.
void call_past_preload();

// Opens a path without following symbolic links in any component, if the kernel can do that: a link
// in the place of a directory must not lead elsewhere.
int64_t open_beneath(const char* path, int flags);
// Opens `path` beneath `directory`, through no symbolic link and no magic link: -ELOOP or -ENOTDIR
// at one. -EXDEV if the path is absolute or has a component "..". It may be longer than PATH_MAX.
int64_t open_in(int directory, const char* path, int flags, uint32_t mode = 0);
int64_t openat(int directory, const char* name, int flags, uint32_t mode = 0);
int64_t close(int fd);
int64_t pread(int fd, void* buffer, size_t size, uint64_t offset);
int64_t pwrite(int fd, const void* buffer, size_t size, uint64_t offset);
// Copies within the kernel, or lets both files share blocks, where the file system can do that.
int64_t copy_file_range(int from, uint64_t from_offset, int to, uint64_t to_offset, size_t size);
int64_t lseek(int fd, int64_t offset, int whence);
int64_t ftruncate(int fd, uint64_t size);
int64_t fsync(int fd);
int64_t fdatasync(int fd);
// Drops a file from the page cache, as far as it is on disk.
void drop_cached(int fd);
// Does fsync(). 0 also if the file system has no fsync of directories.
int64_t fsync_directory(int fd);

// The attributes of a file or directory, as the kernel returns them.
struct FileStat : stat {
  FileStat() : stat{} {}
  // When it was created, in nanoseconds since 1970; with birth_is_handle set, a number that the
  // file system gives to no other file. 0: the file system tells neither. Nobody can set it.
  uint64_t birth = 0;
};
inline constexpr uint64_t birth_is_handle = 1ULL << 63;  // in FileStat::birth

int64_t fstat(int fd, FileStat* st);
int64_t lstatat(int directory, const char* name, FileStat* st);
int64_t fstatfs(int fd, struct statfs* st);
// Does each file keep its FileStat::birth as long as it exists? Not on overlayfs, which makes a new
// file of one in a lower layer when it is first changed.
bool keeps_birth(int fd);
int64_t getdents(int fd, void* buffer, size_t size);
int64_t readlinkat(int directory, const char* name, char* buffer, size_t size);
int64_t symlinkat(const char* target, int directory, const char* name);
int64_t linkat(int from, const char* name, int to, const char* new_name, int flags = 0);
int64_t mkdirat(int directory, const char* name, uint32_t mode);
int64_t mknodat(int directory, const char* name, uint32_t mode, uint64_t device);
int64_t unlinkat(int directory, const char* name, int flags);
int64_t renameat2(int from, const char* name, int to, const char* new_name, unsigned flags);
int64_t fchmod(int fd, uint32_t mode);
int64_t chmodat(int directory, const char* name, uint32_t mode);
int64_t fchownat(int directory, const char* name, uint32_t uid, uint32_t gid);
// Sets both times, in nanoseconds; of a symbolic link itself, unless it is followed. `name` null:
// of the open file.
enum class Follow : uint8_t { no, yes };
int64_t utimensat(int directory, const char* name, uint64_t atime, uint64_t mtime,
                  Follow follow = Follow::no);
int64_t set_present_times(int fd);
int64_t flistxattr(int fd, char* list, size_t size);
int64_t fgetxattr(int fd, const char* name, void* value, size_t size);
int64_t getxattr(const char* path, const char* name, void* value, size_t size);
int64_t listxattr(const char* path, char* list, size_t size);
int64_t fsetxattr(int fd, const char* name, const void* value, size_t size);
int64_t setxattr(const char* path, const char* name, const void* value, size_t size);
int64_t fremovexattr(int fd, const char* name);
int64_t removexattr(const char* path, const char* name);
// Lists the attributes of a name, and of a symbolic link itself.
int64_t llistxattr(const char* path, char* list, size_t size);

// Nanoseconds since 1970. Earlier times are the bits of a signed number, as everywhere in the pool.
inline uint64_t mtime_of(const FileStat& st) {
  return static_cast<uint64_t>(st.st_mtim.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(st.st_mtim.tv_nsec);
}
inline uint64_t atime_of(const FileStat& st) {
  return static_cast<uint64_t>(st.st_atim.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(st.st_atim.tv_nsec);
}
inline uint64_t ctime_of(const FileStat& st) {
  return static_cast<uint64_t>(st.st_ctim.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(st.st_ctim.tv_nsec);
}

// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int take() { return std::exchange(fd_, -1); }
  [[nodiscard]] bool ok() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Moves a descriptor to a number that programs rarely use: from 900 on, or from 500 if the process
// may not have so many. A process that may have still fewer needs them all: none. Closes `fd`.
Descriptor out_of_the_way(int fd);

struct DirectoryEntry {
  std::string name;
  unsigned char type = 0;
};
// All names but "." and ".."; 0 or -errno.
int64_t list(int fd, std::vector<DirectoryEntry>* entries);
// The text of a symbolic link.
int64_t read_link(int directory, const char* name, std::string* text);

// Reads all of a small file; 0 or -errno.
int64_t read_file(const char* path, std::string* text);

// The path without symbolic links of the file that `path` leads to. `flags`: O_DIRECTORY or 0.
int64_t real_path(const char* path, int flags, std::string* real);

// Random hexadecimal digits, for unique names.
std::string random_name();

// fail() with the path and the kernel's word for -result.
Status failed(int64_t result, const char* what, const std::string& path);

}  // namespace cairn::tier::sys
