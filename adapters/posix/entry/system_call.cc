// syscall(): programs and run-times that call the kernel by number, as Rust's and Node's do for
// calls that the C library lacked, meet the same files as by name. Where number and name differ in
// arguments or results, the number's apply.
#include <string.h>
#include <sys/syscall.h>

#include <utility>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/caller.h"
#include "posix/credentials/user_change.h"
#include "posix/entry/calls.h"
#include "posix/exec/calls.h"
#include "posix/fd/table.h"
#include "posix/io/by_number.h"
#include "posix/io/calls.h"
#include "posix/io/open.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"
#include "posix/path/cwd.h"
#include "posix/path/lookup.h"
#include "posix/path/result.h"

// Headers of the C library may be older than the programs that run.
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

namespace posix {

namespace {

struct Arguments {
  long value[6];  // NOLINT(google-runtime-int): the kernel's
};

template <typename T>
T as(long value) {  // NOLINT(google-runtime-int)
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

// Calls `call` with as many of the arguments as it takes.
template <typename Result, typename... Parameters, size_t... kIndex>
auto spread(Result (*call)(Parameters...), const Arguments& given, std::index_sequence<kIndex...>) {
  return call(as<Parameters>(given.value[kIndex])...);
}
template <typename Result, typename... Parameters>
long pass(Result (*call)(Parameters...), const Arguments& given) {  // NOLINT(google-runtime-int)
  auto done = spread(call, given, std::index_sequence_for<Parameters...>());
  if constexpr (std::is_pointer_v<Result>) {
    return reinterpret_cast<intptr_t>(done);
  } else {
    return static_cast<long>(done);  // NOLINT(google-runtime-int)
  }
}

// Converts the result of a function that returns a negative errno.
int by_errno(int done) { return done < 0 ? fail(done) : done; }

ssize_t get_cwd(char* buffer, size_t size) {
  if (size == 0) return fail(-ERANGE);
  // By name, getcwd would allocate the buffer.
  if (buffer == nullptr) {
    char path[PATH_MAX];
    if (size > sizeof path) size = sizeof path;
    return fail(serve::getcwd(path, size) != nullptr ? -EFAULT : -errno);
  }
  return serve::getcwd(buffer, size) == nullptr ? -1 : static_cast<ssize_t>(strlen(buffer)) + 1;
}

int access_at(int dir, const char* path, int mode) { return serve::faccessat(dir, path, mode, 0); }

int change_mode_at(int dir, const char* path, mode_t mode) {
  return serve::fchmodat(dir, path, mode, 0);
}

// A null path means the descriptor; the C library's function refuses that.
int change_times_at(int dir, const char* path, const struct timespec* times, int flags) {
  if (path != nullptr) return serve::utimensat(dir, path, times, flags);
  if (!table::is_covered(dir))
    return static_cast<int>(
        real::syscall(SYS_utimensat, dir, 0, reinterpret_cast<intptr_t>(times), flags, 0, 0));
  if (times != nullptr && !user_memory::is_readable(times, 2 * sizeof *times)) return fail(-EFAULT);
  if (times != nullptr && times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT)
    return 0;
  return flags != 0 ? fail(-EINVAL) : serve::futimens(dir, times);
}

int advise(int fd, off_t offset, off_t size, int advice) {
  return by_errno(-serve::posix_fadvise(fd, offset, size, advice));
}

int submit(void* context, long count, struct iocb** requests) {  // NOLINT(google-runtime-int)
  return by_errno(serve::io_submit(context, count, requests));
}
int get_events(void* context, long least, long most, struct io_event* events,  // NOLINT
               struct timespec* timeout) {
  return by_errno(serve::io_getevents(context, least, most, events, timeout));
}
int get_events_with_mask(void* context, long least, long most, struct io_event* events,  // NOLINT
                         struct timespec* timeout, void* mask) {
  return by_errno(by_number::io_pgetevents(context, least, most, events, timeout, mask));
}
int destroy(void* context) { return by_errno(serve::io_destroy(context)); }

// The kernel takes the mask and its size in one argument, and writes the time that is left.
int select_with_mask(int count, fd_set* readers, fd_set* writers, fd_set* others,
                     const struct timespec* timeout, const void* mask) {
  struct Mask {
    const sigset_t* set;
    size_t size;
  };
  Mask given = {nullptr, 0};
  if (mask != nullptr && user_memory::read(&given, mask) < 0) return fail(-EFAULT);
  const sigset_t* set = given.set;
  return serve::pselect(count, readers, writers, others, timeout, set);
}

ssize_t read_vectors(int fd, const struct iovec* vector, int count, off_t offset, long, int flags) {
  return serve::preadv2(fd, vector, count, offset, flags);
}
ssize_t write_vectors(int fd, const struct iovec* vector, int count, off_t offset, long,
                      int flags) {
  return serve::pwritev2(fd, vector, count, offset, flags);
}

#ifdef SYS_openat2
struct OpenHow {
  uint64_t flags;
  uint64_t mode;
  uint64_t resolve;
};
// Makes the kernel's checks.
int check(const OpenHow& how, size_t size) {
  const auto* rest = reinterpret_cast<const char*>(&how + 1);
  for (size_t i = 0; i < size - sizeof how; ++i) {
    if (rest[i] != 0) return -E2BIG;
  }
  constexpr uint64_t kFlags = O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND |
                              O_NONBLOCK | O_SYNC | O_ASYNC | O_DIRECT | 0100000 | O_TMPFILE |
                              O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_PATH;
  constexpr uint64_t kWithPath = O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC;
  constexpr uint64_t kBeneath = 8, kInRoot = 16, kResolve = 63;
  bool creates = (how.flags & O_CREAT) != 0 || (how.flags & O_TMPFILE) == O_TMPFILE;
  bool wrong = (how.flags & ~kFlags) != 0 || (how.resolve & ~kResolve) != 0 ||
               (how.resolve & (kBeneath | kInRoot)) == (kBeneath | kInRoot) ||
               (creates ? (how.mode & ~uint64_t{07777}) != 0 : how.mode != 0) ||
               ((how.flags & O_PATH) != 0 && (how.flags & ~kWithPath) != 0);
  return wrong ? -EINVAL : 0;
}

bool starts_here(int dir) {
  return dir == AT_FDCWD ? cwd::where() == cwd::Where::kCovered : table::is_covered(dir);
}

// Returns the flags for find(). -ENOSYS: the path starts from another directory, so the caller must
// resolve it, as on kernels without the call. A path that leaves the cover is not held to
// RESOLVE_NO_XDEV from there on. The kernel's other flags change nothing below a cover: it is one
// file system, and has no links like those of /proc.
long ways_of(int dir, const char** path, const OpenHow& how) {  // NOLINT(google-runtime-int)
  constexpr uint64_t kNoSymlinks = 4, kFromBeneath = 8, kFromRoot = 16, kCached = 32;
  constexpr uint64_t kMakes = O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  if ((how.resolve & kCached) != 0 && (how.flags & kMakes) != 0) return -EAGAIN;
  const auto links = static_cast<long>((how.resolve & kNoSymlinks) != 0 ? kNoLinks : 0);  // NOLINT
  if ((how.resolve & (kFromBeneath | kFromRoot)) == 0) return links;
  if (!starts_here(dir)) return -ENOSYS;
  if ((how.resolve & kFromBeneath) != 0 && **path == '/') return -EXDEV;
  if (**path == '/') *path += strspn(*path, "/");
  if (**path == '\0') *path = ".";
  return static_cast<long>((how.resolve & kFromBeneath) != 0 ? kBeneath : kInRoot) | links;
}

// Returns true if the path may lead through links of /proc, which the caller excludes. The kernel
// returns the error.
bool is_forbidden_link(const char* path, const OpenHow& how) {
  constexpr uint64_t kNoLinksOfProc = 2, kNoSymlinks = 4;
  if ((how.resolve & (kNoLinksOfProc | kNoSymlinks)) == 0) return false;
  for (const char* start : {"/proc/", "/dev/fd", "/dev/std"})
    if (strncmp(path, start, strlen(start)) == 0) return true;
  return false;
}

long open_how(int dir, const char* path, const OpenHow* how, size_t size) {  // NOLINT
  const bool whole = size >= sizeof *how && size <= user_memory::kPage &&
                     user_memory::is_readable(how, size) && user_memory::is_text(path);
  // From a directory of ours an absolute path may be meant as one below it.
  constexpr uint64_t kAnchored = 8 | 16;
  if (!whole || !active() || is_forbidden_link(path, *how) ||
      (outside(dir, path) && ((how->resolve & kAnchored) == 0 || !starts_here(dir))))
    return real::syscall(SYS_openat2, dir, reinterpret_cast<intptr_t>(path),
                         reinterpret_cast<intptr_t>(how), static_cast<intptr_t>(size), 0, 0);
  if (int error = check(*how, size); error < 0) return fail(error);
  const int flags = static_cast<int>(how->flags);
  const auto mode = static_cast<mode_t>(how->mode);
  if (how->resolve == 0) return serve::openat(dir, path, flags, mode);
  if (path[0] == '\0') return fail(-ENOENT);
  const long ways = ways_of(dir, &path, *how);  // NOLINT(google-runtime-int)
  return ways < 0 ? fail(ways) : open_resolved(dir, path, flags, mode, static_cast<unsigned>(ways));
}
#endif

#ifdef SYS_getdents
// Returns entries in the older layout: the type is at an entry's end instead of before its name.
ssize_t get_entries(int fd, void* buffer, size_t size) {
  if (!table::is_covered(fd))
    return real::syscall(SYS_getdents, fd, reinterpret_cast<intptr_t>(buffer),
                         static_cast<intptr_t>(size), 0, 0, 0);
  ssize_t got = serve::getdents64(fd, buffer, size);
  char* entry = static_cast<char*>(buffer);
  for (ssize_t at = 0; at < got;) {
    struct dirent64 head;
    memcpy(&head, entry, offsetof(struct dirent64, d_name));
    constexpr size_t kName = offsetof(struct dirent64, d_name);
    memmove(entry + kName - 1, entry + kName, head.d_reclen - kName);
    entry[head.d_reclen - 1] = static_cast<char>(head.d_type);
    at += head.d_reclen;
    entry += head.d_reclen;
  }
  return got;
}
#endif

// NOLINTNEXTLINE(google-runtime-int): the kernel's
long as_given(long number, const Arguments& given) {
  return real::syscall(number, given.value[0], given.value[1], given.value[2], given.value[3],
                       given.value[4], given.value[5]);
}

}  // namespace

// Serves a number by the function of its name, or by another one.
#define BY_NAME(number, name) \
  case SYS_##number:          \
    return pass(serve::name, given);
#define BY_FUNCTION(number, function) \
  case SYS_##number:                  \
    return pass(function, given);

// NOLINTNEXTLINE(google-runtime-int): the kernel's
static long dispatch(long number, const Arguments& given) {
  switch (number) {
#include "posix/system_calls.def"
    default:
      return as_given(number, given);
  }
}

// A child that shares the caller's memory returns through this frame, too. No value in it may be
// needed afterwards, so that the compiler makes the call a jump.
static bool makes_children(long number) {  // NOLINT(google-runtime-int)
#ifdef SYS_vfork
  if (number == SYS_vfork || number == SYS_fork) return true;
#endif
#ifdef SYS_clone3
  if (number == SYS_clone3) return true;
#endif
  return number == SYS_clone;
}

namespace serve {

long syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (!active() || makes_children(number)) return real::syscall(number, a, b, c, d, e, f);
  return dispatch(number, {{a, b, c, d, e, f}});
}

}  // namespace serve
}  // namespace posix
