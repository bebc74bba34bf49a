#include "tier/system/system.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <string_view>

namespace cairn::tier::sys {
namespace {

using Syscall = long (*)(long, ...);  // NOLINT(google-runtime-int): as unistd.h has it
constinit std::atomic<Syscall> kernel{&::syscall};

// The head of the kernel's struct file_handle; the bytes follow it.
struct file_handle_head {
  unsigned bytes;
  int type;
};

// Calls syscall(2), and restores errno, which belongs to the program.
template <typename... Arguments>
int64_t call(int64_t number, Arguments... arguments) {
  const int saved = errno;
  const int64_t result = kernel.load(std::memory_order_relaxed)(number, arguments...);
  const int error = errno;
  errno = saved;
  return result == -1 ? -error : result;
}

template <typename... Arguments>
int64_t call_again(int64_t number, Arguments... arguments) {
  for (;;) {
    const int64_t result = call(number, arguments...);
    if (result != -EINTR) return result;
  }
}

// Times before 1970 are negative, but tv_nsec never is.
timespec timespec_of(uint64_t time) {
  constexpr int64_t second = 1'000'000'000;
  const auto ns = static_cast<int64_t>(time);
  const int64_t rest = (ns % second + second) % second;
  return {static_cast<time_t>((ns - rest) / second), rest};
}

bool leads_out(std::string_view path) {
  if (path.starts_with('/')) return true;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    if (path.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

int64_t open_at_once(int directory, const char* path, int flags, uint32_t mode) {
  constexpr int creating = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
  open_how how = {};
  how.flags = static_cast<uint64_t>(static_cast<unsigned>(flags | O_CLOEXEC));
  how.mode = (flags & creating) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return call_again(SYS_openat2, directory, path, &how, sizeof how);
}

// Does the kernel lack the call (openat2 before Linux 5.6), or does a system call filter refuse it?
bool is_unknown(int64_t result) { return result == -ENOSYS || result == -EPERM; }

// Opens a path without openat2, component by component.
int64_t open_by_components(int directory, std::string_view rest, int flags, uint32_t mode) {
  Descriptor above;
  for (;;) {
    const int from = above.ok() ? above.get() : directory;
    const size_t end = rest.find('/');
    const std::string name(end == 0 ? "." : rest.substr(0, end));
    if (end == std::string_view::npos) {
      const int64_t fd = openat(from, name.c_str(), flags | O_NOFOLLOW, mode);
      if (fd < 0 || (flags & O_PATH) == 0 || (flags & O_NOFOLLOW) != 0) return fd;
      Descriptor opened(static_cast<int>(fd));
      FileStat st = {};
      const int64_t result = sys::fstat(opened.get(), &st);
      if (result < 0) return result;
      return S_ISLNK(st.st_mode) ? -ELOOP : opened.take();
    }
    const int64_t fd = openat(from, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0) return fd;
    above = Descriptor(static_cast<int>(fd));
    rest.remove_prefix(end + 1);
    if (rest.empty()) rest = ".";
  }
}

uint64_t time_of(const statx_timestamp& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

timespec timespec_of(const statx_timestamp& time) {
  return {static_cast<time_t>(time.tv_sec), static_cast<int64_t>(time.tv_nsec)};
}

void take(const struct statx& found, FileStat* st) {
  st->st_dev = makedev(found.stx_dev_major, found.stx_dev_minor);
  st->st_ino = found.stx_ino;
  st->st_mode = found.stx_mode;
  st->st_nlink = found.stx_nlink;
  st->st_uid = found.stx_uid;
  st->st_gid = found.stx_gid;
  st->st_rdev = makedev(found.stx_rdev_major, found.stx_rdev_minor);
  st->st_size = static_cast<off_t>(found.stx_size);
  st->st_blksize = found.stx_blksize;
  st->st_blocks = static_cast<blkcnt_t>(found.stx_blocks);
  st->st_atim = timespec_of(found.stx_atime);
  st->st_mtim = timespec_of(found.stx_mtime);
  st->st_ctim = timespec_of(found.stx_ctime);
  st->birth = (found.stx_mask & STATX_BTIME) != 0 ? time_of(found.stx_btime) & ~birth_is_handle : 0;
}

// FUSE gives other handles to a file that it has forgotten meanwhile. XFS has handles of the same
// types, for inode numbers of 64 bits.
bool changes(int type_of_handle, int directory) {
  constexpr int of_fuse = 0x81;
  constexpr int of_fuse_with_parent = 0x82;
  constexpr uint32_t xfs = 0x58465342;
  if (type_of_handle != of_fuse && type_of_handle != of_fuse_with_parent) return false;
  struct statfs st = {};
  return call(SYS_fstatfs, directory, &st) != 0 || static_cast<uint32_t>(st.f_type) != xfs;
}

// A number made of the handle by which the file system finds the file (name_to_handle_at(2)). It
// holds the generation of the inode number. 0: the file system has no such handles.
uint64_t handle_of(int directory, const char* name) {
  struct {
    file_handle_head head;
    unsigned char bytes[MAX_HANDLE_SZ];
  } handle = {};
  handle.head.bytes = sizeof handle.bytes;
  int mount = 0;
  if (call(SYS_name_to_handle_at, directory, name, &handle, &mount, AT_EMPTY_PATH) != 0 ||
      changes(handle.head.type, directory))
    return 0;
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (size_t i = 0; i < std::min<size_t>(handle.head.bytes, sizeof handle.bytes); ++i)
    hash = (hash ^ handle.bytes[i]) * 0x100000001b3;
  return hash | birth_is_handle;
}

}  // namespace

void call_past_preload() {
  // The copy of this code in the preloaded library makes room for descriptors. It recognises itself
  // because it lies in the library that defines syscall(2).
  Dl_info own = {};
  Dl_info defined = {};
  const void* const first = dlsym(RTLD_DEFAULT, "syscall");
  if (first == nullptr || dladdr(first, &defined) == 0 ||
      dladdr(reinterpret_cast<const void*>(&call_past_preload), &own) == 0 ||
      own.dli_fbase == defined.dli_fbase)
    return;
  void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return;
  const auto found = reinterpret_cast<Syscall>(dlsym(libc, "syscall"));
  if (found != nullptr) kernel.store(found, std::memory_order_relaxed);
  dlclose(libc);
}

int64_t open_beneath(const char* path, int flags) {
  open_how how = {};
  how.flags = static_cast<uint64_t>(static_cast<unsigned>(flags | O_CLOEXEC));
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const int64_t fd = call_again(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
  if (fd != -ENOSYS && fd != -EPERM) return fd;
  return openat(AT_FDCWD, path,
                flags | O_NOFOLLOW);  // without openat2
}
int64_t openat(int directory, const char* name, int flags, uint32_t mode) {
  return call_again(SYS_openat, directory, name, flags | O_CLOEXEC, mode);
}
int64_t open_in(int directory, const char* path, int flags, uint32_t mode) {
  if (leads_out(path)) return -EXDEV;
  Descriptor above;
  // Opens a long path in pieces, each shorter than PATH_MAX.
  std::string_view rest = path;
  while (rest.size() >= PATH_MAX) {
    const size_t slash = rest.rfind('/', PATH_MAX - 1);
    if (slash == std::string_view::npos || slash == 0) break;
    const int from = above.ok() ? above.get() : directory;
    const int64_t fd =
        open_at_once(from, std::string(rest.substr(0, slash)).c_str(), O_PATH | O_DIRECTORY, 0);
    if (is_unknown(fd)) return open_by_components(directory, path, flags, mode);
    if (fd < 0) return fd;
    above = Descriptor(static_cast<int>(fd));
    rest.remove_prefix(std::min(rest.find_first_not_of('/', slash), rest.size()));
    if (rest.empty()) rest = ".";
  }
  const int from = above.ok() ? above.get() : directory;
  // The rest is terminated, because it ends where the path ends.
  const int64_t fd = open_at_once(from, rest.data(), flags, mode);
  return is_unknown(fd) ? open_by_components(from, rest, flags, mode) : fd;
}
int64_t close(int fd) { return call(SYS_close, fd); }
int64_t pread(int fd, void* buffer, size_t size, uint64_t offset) {
  return call_again(SYS_pread64, fd, buffer, size, offset);
}
int64_t pwrite(int fd, const void* buffer, size_t size, uint64_t offset) {
  return call_again(SYS_pwrite64, fd, buffer, size, offset);
}
int64_t copy_file_range(int from, uint64_t from_offset, int to, uint64_t to_offset, size_t size) {
  return call_again(SYS_copy_file_range, from, &from_offset, to, &to_offset, size, 0);
}
int64_t lseek(int fd, int64_t offset, int whence) { return call(SYS_lseek, fd, offset, whence); }
int64_t ftruncate(int fd, uint64_t size) { return call_again(SYS_ftruncate, fd, size); }
int64_t fsync(int fd) { return call_again(SYS_fsync, fd); }
int64_t fdatasync(int fd) { return call_again(SYS_fdatasync, fd); }
void drop_cached(int fd) { call(SYS_fadvise64, fd, 0, 0, POSIX_FADV_DONTNEED); }
int64_t fsync_directory(int fd) {
  const int64_t result = fsync(fd);
  return result == -EINVAL || result == -EOPNOTSUPP || result == -ENOSYS ? 0 : result;
}
int64_t fstat(int fd, FileStat* st) { return lstatat(fd, "", st); }
int64_t lstatat(int directory, const char* name, FileStat* st) {
  constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
  struct statx found = {};
  int64_t result = call(SYS_statx, directory, name, flags, STATX_BASIC_STATS | STATX_BTIME, &found);
  if (result == 0) {
    take(found, st);
    if (st->birth == 0) st->birth = handle_of(directory, name);
  } else if (is_unknown(result)) {  // Linux before 4.11, or a filter, lacks statx
    *st = {};
    result = call(SYS_newfstatat, directory, name, static_cast<struct stat*>(st), flags);
  }
  return result;
}
int64_t fstatfs(int fd, struct statfs* st) { return call(SYS_fstatfs, fd, st); }
bool keeps_birth(int fd) {
  constexpr uint32_t overlayfs = 0x794C7630;
  struct statfs st = {};
  return sys::fstatfs(fd, &st) == 0 && static_cast<uint32_t>(st.f_type) != overlayfs;
}
int64_t getdents(int fd, void* buffer, size_t size) {
  return call(SYS_getdents64, fd, buffer, size);
}
int64_t readlinkat(int directory, const char* name, char* buffer, size_t size) {
  return call(SYS_readlinkat, directory, name, buffer, size);
}
int64_t symlinkat(const char* target, int directory, const char* name) {
  return call(SYS_symlinkat, target, directory, name);
}
int64_t linkat(int from, const char* name, int to, const char* new_name, int flags) {
  return call(SYS_linkat, from, name, to, new_name, flags);
}
int64_t mkdirat(int directory, const char* name, uint32_t mode) {
  return call(SYS_mkdirat, directory, name, mode);
}
int64_t mknodat(int directory, const char* name, uint32_t mode, uint64_t device) {
  return call(SYS_mknodat, directory, name, mode, device);
}
int64_t unlinkat(int directory, const char* name, int flags) {
  return call(SYS_unlinkat, directory, name, flags);
}
int64_t renameat2(int from, const char* name, int to, const char* new_name, unsigned flags) {
  return call(SYS_renameat2, from, name, to, new_name, flags);
}
int64_t fchmod(int fd, uint32_t mode) { return call(SYS_fchmod, fd, mode); }
int64_t chmodat(int directory, const char* name, uint32_t mode) {
  return call(SYS_fchmodat, directory, name, mode);
}
int64_t fchownat(int directory, const char* name, uint32_t uid, uint32_t gid) {
  return call(SYS_fchownat, directory, name, uid, gid, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
}
int64_t utimensat(int directory, const char* name, uint64_t atime, uint64_t mtime, Follow follow) {
  const timespec times[2] = {timespec_of(atime), timespec_of(mtime)};
  const bool follows = name == nullptr || follow == Follow::yes;
  return call(SYS_utimensat, directory, name, times, follows ? 0 : AT_SYMLINK_NOFOLLOW);
}
int64_t set_present_times(int fd) { return call(SYS_utimensat, fd, nullptr, nullptr, 0); }
int64_t flistxattr(int fd, char* list, size_t size) { return call(SYS_flistxattr, fd, list, size); }
int64_t fgetxattr(int fd, const char* name, void* value, size_t size) {
  return call(SYS_fgetxattr, fd, name, value, size);
}
int64_t fsetxattr(int fd, const char* name, const void* value, size_t size) {
  return call(SYS_fsetxattr, fd, name, value, size, 0);
}
int64_t setxattr(const char* path, const char* name, const void* value, size_t size) {
  return call(SYS_setxattr, path, name, value, size, 0);
}
int64_t fremovexattr(int fd, const char* name) { return call(SYS_fremovexattr, fd, name); }
int64_t removexattr(const char* path, const char* name) {
  return call(SYS_removexattr, path, name);
}
int64_t getxattr(const char* path, const char* name, void* value, size_t size) {
  return call(SYS_getxattr, path, name, value, size);
}
int64_t listxattr(const char* path, char* list, size_t size) {
  return call(SYS_listxattr, path, list, size);
}
int64_t llistxattr(const char* path, char* list, size_t size) {
  return call(SYS_llistxattr, path, list, size);
}

Descriptor out_of_the_way(int fd) {
  int64_t moved = -1;
  // Moves it below 1024: a larger table of descriptors would make every fork slower.
  for (int least : {900, 500}) {
    moved = call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least);
    if (moved >= 0) break;
  }
  close(fd);
  return Descriptor(static_cast<int>(moved < 0 ? -1 : moved));
}

int64_t list(int fd, std::vector<DirectoryEntry>* entries) {
  struct KernelEntry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    unsigned char type;
    char name[1];
  };
  std::vector<char> buffer(64 << 10);
  for (;;) {
    const int64_t n = getdents(fd, buffer.data(), buffer.size());
    if (n <= 0) return n;
    for (int64_t at = 0; at < n;) {
      const auto* record = reinterpret_cast<const KernelEntry*>(buffer.data() + at);
      at += record->length;
      const char* name = buffer.data() + at - record->length + offsetof(KernelEntry, name);
      if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
      entries->push_back({name, record->type});
    }
  }
}

int64_t read_link(int directory, const char* name, std::string* text) {
  char buffer[4097];
  const int64_t n = readlinkat(directory, name, buffer, sizeof buffer);
  if (n < 0) return n;
  text->assign(buffer, static_cast<size_t>(n));
  return 0;
}

int64_t read_file(const char* path, std::string* text) {
  const int64_t fd = openat(AT_FDCWD, path, O_RDONLY);
  if (fd < 0) return fd;
  const Descriptor file(static_cast<int>(fd));
  text->clear();
  char buffer[4096];
  for (;;) {
    const int64_t n = call_again(SYS_read, file.get(), buffer, sizeof buffer);
    if (n <= 0) return n;
    text->append(buffer, static_cast<size_t>(n));
  }
}

int64_t real_path(const char* path, int flags, std::string* real) {
  const int64_t fd = openat(AT_FDCWD, path, O_PATH | flags);
  if (fd < 0) return fd;
  const Descriptor opened(static_cast<int>(fd));
  return read_link(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str(), real);
}

std::string random_name() {
  uint64_t words[2] = {};
  call_again(SYS_getrandom, words, sizeof words, 0);
  std::string text;
  for (uint64_t word : words) {
    for (int i = 0; i < 16; ++i, word >>= 4) text += "0123456789abcdef"[word & 15];
  }
  return text;
}

Status failed(int64_t result, const char* what, const std::string& path) {
  const int error = static_cast<int>(-result);
  return fail(error, "%s: %s: %s", path.c_str(), what, std::strerror(error));
}

}  // namespace cairn::tier::sys
