/* Every call on a descriptor, on every kind of descriptor: which are refused, and how. See show.h.
 */
#include <limits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#include "show.h"

#define KINDS(kind)                                                                                \
  kind(none, -1) kind(closed, 700) kind(reader, open("f", O_RDONLY))                               \
      kind(writer, open("f", O_WRONLY)) kind(both, open("f", O_RDWR))                              \
          kind(appender, open("f", O_RDWR | O_APPEND)) kind(path, open("f", O_PATH))               \
              kind(link, open("l", O_PATH | O_NOFOLLOW)) kind(directory, open("d", O_RDONLY))      \
                  kind(directory_path, open("d", O_PATH)) kind(                                    \
                      nameless, open(".", O_TMPFILE | O_RDWR, 0600)) kind(removed, removed_file()) \
                      kind(removed_directory, removed_directory()) kind(fifo, open("p", O_RDWR))

static int removed_file(void) {
  int fd = make("r", "gone");
  unlink("r");
  return fd;
}
static int removed_directory(void) {
  mkdir("rd", 0755);
  int fd = open("rd", O_RDONLY);
  rmdir("rd");
  return fd;
}

static const char* kind;

#define ON(call)                                                     \
  do {                                                               \
    errno = 0;                                                       \
    long value = (long)(call);                                       \
    printf("%s: %s = %ld %s\n", kind, #call, value < 0 ? -1 : value, \
           value < 0 ? strerrorname_np(errno) : "");                 \
  } while (0)

static long mapped(int fd, size_t size, int protection, int flags, off_t offset) {
  void* where = mmap(NULL, size, protection, flags, fd, offset);
  if (where == MAP_FAILED) return -1;
  munmap(where, size);
  return 0;
}

/* Counts that are wrong on purpose. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
static void transfers(int fd, int fifo) {
  struct iovec two[2] = {{buffer, 2}, {buffer + 2, 1}};
  off_t offset = 1;
  if (!fifo) ON(read(fd, buffer, 2));
  if (!fifo) ON(read(fd, buffer, 0));
  ON(write(fd, "x", 1));
  ON(write(fd, "x", 0));
  ON(pread(fd, buffer, 2, 0));
  ON(pread(fd, buffer, 2, -1));
  ON(pread(fd, buffer, 2, INT64_MAX));
  ON(pwrite(fd, "x", 1, 0));
  ON(pwrite(fd, "x", 1, -1));
  ON(pwrite(fd, "x", 1, INT64_MAX));
  if (!fifo) ON(readv(fd, two, 2));
  ON(readv(fd, two, -1));
  ON(readv(fd, two, IOV_MAX + 1));
  ON(readv(fd, two, 0));
  ON(writev(fd, two, 2));
  ON(writev(fd, two, -1));
  ON(preadv(fd, two, 2, 0));
  ON(preadv(fd, two, 2, -5));
  ON(pwritev(fd, two, 2, 0));
  ON(pwritev(fd, two, 2, -5));
  ON(preadv2(fd, two, 2, 0, 0x4000));
  ON(lseek(fd, 0, SEEK_SET));
  ON(lseek(fd, -1, SEEK_SET));
  ON(lseek(fd, 0, 77));
  ON(lseek(fd, INT64_MAX, SEEK_END));
  ON(lseek(fd, 0, SEEK_DATA));
  ON(lseek(fd, 0, SEEK_HOLE));
  ON(lseek(fd, 1L << 40, SEEK_DATA));
  ON(lseek(fd, 1L << 40, SEEK_HOLE));
  ON(lseek(fd, -1, SEEK_DATA));
  ON(lseek(fd, 0, SEEK_SET));
  int other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0644), reader = open("f", O_RDONLY);
  if (!fifo) ON(copy_file_range(fd, NULL, other, NULL, 2, 0));
  if (!fifo) ON(copy_file_range(reader, NULL, fd, NULL, 2, 0));
  if (!fifo) ON(copy_file_range(fd, NULL, other, NULL, 2, 1));
  if (!fifo) ON(sendfile(other, fd, NULL, 2));
  ON(sendfile(fd, reader, &offset, 2));
  close(other), close(reader);
}

static void sizes(int fd, int fifo) {
  ON(ftruncate(fd, 5));
  ON(ftruncate(fd, -1));
  ON(fallocate(fd, 0, 0, 10));
  ON(fallocate(fd, 0, 0, 0));
  ON(fallocate(fd, 0, -1, 10));
  ON(fallocate(fd, 0, 0, -10));
  ON(fallocate(fd, 0, INT64_MAX - 5, 10));
  ON(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 10));
  ON(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 10));
  ON(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1));
  ON(fallocate(fd, 0x4000, 0, 10));
  ON(posix_fallocate(fd, 0, 10));
  ON(posix_fallocate(fd, 0, 0));
  ON(posix_fallocate(fd, -1, 10));
  if (!fifo) ON(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
  if (!fifo) ON(posix_fadvise(fd, 0, 0, 77));
  ON(posix_fadvise(fd, 0, -1, 0));
  ON(readahead(fd, 0, 100));
  ON(sync_file_range(fd, 0, 1, SYNC_FILE_RANGE_WRITE));
  ON(sync_file_range(fd, 0, 1, 77));
  ON(sync_file_range(fd, -1, 1, 0));
  ON(fsync(fd));
  ON(fdatasync(fd));
  ON(syncfs(fd));
}

static void attributes(int fd) {
  struct stat st;
  struct statvfs space;
  struct timespec times[2] = {{1, 1}, {2, 2}}, bad[2] = {{1, -1}, {0, 0}};
  ON(fstat(fd, &st));
  ON(fstatat(fd, "", &st, AT_EMPTY_PATH));
  ON(fstatat(fd, "", &st, 0));
  ON(fstatat(fd, "x", &st, 0));
  ON(fstatvfs(fd, &space));
  ON(fpathconf(fd, _PC_NAME_MAX));
  ON(fchmod(fd, 0640));
  ON(fchown(fd, 0, 0));
  ON(fchown(fd, -1, -1));
  ON(futimens(fd, times));
  ON(futimens(fd, bad));
  ON(futimens(fd, NULL));
  ON(fsetxattr(fd, "user.a", "1", 1, 0));
  ON(fgetxattr(fd, "user.a", buffer, 10));
  ON(fgetxattr(fd, "user.b", buffer, 10));
  ON(flistxattr(fd, buffer, 0) < 0);
  ON(fremovexattr(fd, "user.a"));
  ON(fremovexattr(fd, "user.a"));
  ON(isatty(fd) - 1);
}

static void control(int fd, int fifo) {
  struct flock all = {F_RDLCK, SEEK_SET, 0, 0, 0}, write = {F_WRLCK, SEEK_SET, 0, 0, 0};
  struct flock none = {77, SEEK_SET, 0, 0, 0}, below = {F_RDLCK, SEEK_SET, -5, 1, 0};
  ON(fcntl(fd, F_GETFD));
  ON(fcntl(fd, F_SETFD, FD_CLOEXEC));
  if (!fifo) ON(fcntl(fd, F_GETFL) & ~O_NOFOLLOW);
  ON(fcntl(fd, F_SETFL, O_NONBLOCK));
  ON(fcntl(fd, F_SETFL, 0));
  ON(fcntl(fd, F_GETLK, &all));
  ON(fcntl(fd, F_SETLK, &write));
  ON(fcntl(fd, F_SETLK, &all));
  ON(fcntl(fd, F_SETLK, &none));
  ON(fcntl(fd, F_SETLK, &below));
  ON(fcntl(fd, F_OFD_SETLK, &write));
  ON(fcntl(fd, F_GETOWN));
  ON(fcntl(fd, F_SETOWN, getpid()));
  ON(fcntl(fd, F_GETOWN) > 0);
  ON(fcntl(fd, F_SETSIG, SIGUSR1));
  ON(fcntl(fd, F_GETSIG));
  ON(fcntl(fd, F_SETSIG, 0));
  ON(fcntl(fd, F_SETSIG, 99));
  ON(fcntl(fd, 4711, 0));
  if (!fifo) ON(fcntl(fd, F_SETPIPE_SZ, 4096));
  ON(flock(fd, LOCK_SH | LOCK_NB));
  ON(flock(fd, LOCK_UN));
  ON(flock(fd, 0));
  ON(lockf(fd, F_TEST, 0));
  ON(lockf(fd, 77, 0));
  int to = dup(fd);
  ON(to < 0 ? -1 : 0);
  if (to >= 0) close(to);
  ON(dup2(fd, -1));
  ON(dup3(fd, fd, 0));
  ON(dup3(fd, 600, 0x4000));
  ON(fcntl(fd, F_DUPFD, -1));
  ON(fcntl(fd, F_DUPFD, 1 << 30));
}

static void others(int fd, int fifo) {
  struct stat st;
  int left;
  DIR* stream = fdopendir(fd);
  /* Newer C libraries look at O_PATH, as ours does. */
  if (strcmp(kind, "directory_path") != 0) ON(stream == NULL ? -1 : dirfd(stream) == fd);
  ON(getdents64(fd, buffer, 1000) > 0 ? 1 : getdents64(fd, buffer, 1000));
  ON(getdents64(fd, buffer, 5));
  ON(mapped(fd, 4096, PROT_READ, MAP_SHARED, 0));
  ON(mapped(fd, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
  ON(mapped(fd, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0));
  ON(mapped(fd, 0, PROT_READ, MAP_SHARED, 0));
  ON(mapped(fd, 4096, PROT_READ, MAP_SHARED, 7));
  ON(mapped(fd, 4096, PROT_READ, 0, 0));
  if (!fifo) ON(ioctl(fd, FIONREAD, &left));
  ON(ioctl(fd, 0x5401, buffer));
  ON(openat(fd, "x", O_RDONLY));
  ON(openat(fd, "", O_RDONLY));
  ON(mkdirat(fd, "x", 0755));
  ON(unlinkat(fd, "x", AT_REMOVEDIR));
  if (!fifo) ON(renameat(fd, "x", AT_FDCWD, "y"));
  ON(symlinkat("t", fd, "x"));
  ON(readlinkat(fd, "x", buffer, 10) < 0 ? -1 : 0);
  ON(fstatat(fd, "/", &st, 0));
  if (!fifo) ON(linkat(fd, "", AT_FDCWD, "linked", AT_EMPTY_PATH));
  unlink("linked");
  unlinkat(fd, "x", 0);
  struct pollfd wait = {fd, POLLIN | POLLOUT, 0};
  ON(poll(&wait, 1, 0));
  ON(wait.revents);
}

static void descriptors(void) {
  close(make("f", "some text"));
  symlink("f", "l"), mkdir("d", 0755), mkfifo("p", 0644);
#define RUN(name, how)                                                                 \
  {                                                                                    \
    kind = #name;                                                                      \
    int fd = how, fifo = strcmp(kind, "fifo") == 0;                                    \
    printf("%s is %s\n", kind, fd < 0 ? "none" : "open");                              \
    transfers(fd, fifo), sizes(fd, fifo), control(fd, fifo), others(fd, fifo);         \
    if (!fifo) attributes(fd); /* the open FIFO is the kernel's, under another name */ \
    errno = 0;                                                                         \
    ON(close(fd));                                                                     \
    ON(close(fd));                                                                     \
    close(make("f", "some text"));                                                     \
  }
  KINDS(RUN)
}

/* The empty path: what the descriptor itself names. */
static void itself(void) {
  struct timespec times[2] = {{5, 5}, {6, 6}};
  struct stat st;
  close(make("file", "text"));
  mkdir("dir", 0755);
  symlink("file", "link");
  const struct {
    const char* path;
    int flags;
  } opened[] = {{"file", O_RDWR},  {"file", O_RDONLY}, {"file", O_PATH},
                {"dir", O_RDONLY}, {"dir", O_PATH},    {"link", O_PATH | O_NOFOLLOW}};
  for (unsigned i = 0; i < sizeof opened / sizeof *opened; ++i) {
    int fd = open(opened[i].path, opened[i].flags);
    printf("%s %x\n", opened[i].path, opened[i].flags);
    SHOW(readlinkat(fd, "", buffer, 100));
    SHOW(readlinkat(fd, "", buffer, 0));
    SHOW(fchownat(fd, "", getuid(), getgid(), AT_EMPTY_PATH));
    SHOW(fchownat(fd, "", getuid(), getgid(), AT_EMPTY_PATH | 0x40000000));
    SHOW(fchownat(fd, "", getuid(), getgid(), 0));
    SHOW(fchown(fd, getuid(), getgid()));
    SHOW(utimensat(fd, "", times, AT_EMPTY_PATH));
    SHOW(utimensat(fd, "", times, AT_EMPTY_PATH | 0x40000000));
    SHOW(utimensat(fd, "", times, 0));
    SHOW(fstat(fd, &st));
    printf("%ld %ld\n", (long)st.st_atime, (long)st.st_mtime);
    SHOW(futimens(fd, times));
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (!S_ISLNK(st.st_mode)) SHOW(truncate(name, 3));
    SHOW(fstat(fd, &st));
    if (S_ISREG(st.st_mode)) printf("size %ld\n", (long)st.st_size);
    close(fd);
  }
  SHOW(readlinkat(AT_FDCWD, "", buffer, 100));
  SHOW(fchownat(AT_FDCWD, "", getuid(), getgid(), AT_EMPTY_PATH));
  SHOW(utimensat(AT_FDCWD, "", times, AT_EMPTY_PATH));
  SHOW(stat(".", &st));
  printf("%ld %ld\n", (long)st.st_atime, (long)st.st_mtime);
}

/* Arguments out of range, and what a file is not. */
static void bad_controls(int fd) {
  struct flock lock = {0};
  ON(fcntl(fd, 7777));
  ON(fcntl(fd, F_DUPFD, -1));
  ON(fcntl(fd, F_DUPFD, 1 << 30));
  ON(fcntl(fd, F_SETFL, O_RDONLY));
  ON(fcntl(fd, F_SETSIG, 99));
  ON(fcntl(fd, F_SETSIG, -1));
  ON(fcntl(fd, F_SETOWN, 99999999));
  ON(fcntl(fd, F_SETPIPE_SZ, 4096));
  ON(fcntl(fd, F_GETPIPE_SZ));
  lock.l_type = 77;
  ON(fcntl(fd, F_SETLK, &lock));
  ON(fcntl(fd, F_GETLK, &lock));
  lock.l_type = F_WRLCK, lock.l_whence = 77;
  ON(fcntl(fd, F_SETLK, &lock));
  ON(fcntl(fd, F_GETLK, &lock));
  lock.l_whence = SEEK_SET, lock.l_start = -1;
  ON(fcntl(fd, F_SETLK, &lock));
  lock.l_start = INT64_MAX, lock.l_len = 10;
  ON(fcntl(fd, F_SETLK, &lock));
  lock.l_start = 5, lock.l_len = -10;
  ON(fcntl(fd, F_SETLK, &lock));
  lock.l_start = 0, lock.l_len = 1, lock.l_pid = 7;
  ON(fcntl(fd, F_OFD_SETLK, &lock));
  ON(fcntl(fd, F_OFD_GETLK, &lock));
  lock.l_pid = 0, lock.l_type = F_UNLCK;
  ON(fcntl(fd, F_OFD_GETLK, &lock));
  ON(fcntl(fd, F_GETLK, &lock));
  ON(flock(fd, 0));
  ON(flock(fd, 77));
  ON(flock(fd, LOCK_SH | LOCK_EX));
  ON(flock(fd, LOCK_NB));
  ON(flock(fd, LOCK_UN | LOCK_NB));
  ON(lockf(fd, 77, 0));
  ON(lockf(fd, F_TEST, -1));
  ON(dup3(fd, fd, 0));
  ON(dup3(fd, 50, 77));
  ON(dup3(fd, -1, 0));
  ON(dup2(fd, -1));
  ON(dup2(fd, 1 << 30));
  ON(close_range(600, 500, 0));
  ON(close_range(600, 700, 77));
  ON(ioctl(fd, FS_IOC_FIEMAP, buffer));
}

static void bad_transfers(int fd) {
  struct iovec two[2] = {{buffer, 2}, {buffer, (size_t)-1}};
  off_t offset = -1;
  ON(readv(fd, two, 2));
  ON(writev(fd, two, 2));
  ON(preadv(fd, two, 2, 0));
  ON(preadv(fd, two, -1, 0));
  ON(preadv(fd, two, -1, -1));
  ON(pwritev(fd, two, 2, -1));
  ON(preadv2(fd, two, 1, -2, 0));
  ON(preadv2(fd, two, 1, 0, -1));
  ON(pwritev2(fd, two, 1, 0, -1));
  ON(pwritev2(fd, two, 0, 0, -1));
  ON(preadv2(fd, NULL, 0, 0, 0));
  ON(readv(fd, NULL, 1));
  ON(writev(fd, NULL, 1));
  ON(pread(fd, NULL, 0, 0));
  ON(lseek(fd, 0, -1));
  ON(lseek(fd, INT64_MIN, SEEK_SET));
  ON(lseek(fd, INT64_MAX, SEEK_SET) < 0 ? -1 : 0);
  ON(lseek(fd, 1, SEEK_CUR));
  ON(lseek(fd, 0, SEEK_SET));
  ON(sendfile(fd, fd, &offset, 3));
  ON(sendfile(1 << 20, fd, NULL, 3));
  ON(sendfile(fd, 1 << 20, NULL, 3));
  ON(splice(fd, NULL, fd, NULL, 1, 0));
  ON(fallocate(fd, 0, INT64_MAX, INT64_MAX));
  ON(fallocate(fd, 0x77777777, 0, 1));
  ON(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 1));
  ON(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096));
  ON(fallocate(fd, FALLOC_FL_INSERT_RANGE, 0, 4096));
  ON(fallocate(fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_PUNCH_HOLE, 0, 4096));
  ON(posix_fallocate(fd, 0, -1));
  ON(posix_fadvise(fd, -1, 0, 0));
  ON(posix_fadvise(fd, 0, 0, -1));
  ON(readahead(fd, -1, 1));
  ON(readahead(fd, 0, (size_t)-1));
  ON(sync_file_range(fd, 0, 0, 8));
  ON(sync_file_range(fd, INT64_MAX, 1, 0));
  ON(syscall(SYS_getdents64, fd, buffer, 1));
  ON(syscall(SYS_getdents64, fd, buffer, 0));
  ON(read(fd, buffer, (size_t)-1));
  ON(write(fd, buffer, (size_t)-1));
  ON(pread(fd, buffer, (size_t)-1, 0));
  ON(pwrite(fd, buffer, (size_t)-1, 0));
  ON(pwrite(fd, buffer, (size_t)-1, -1));
  ON(sendfile(1, fd, NULL, (size_t)-1));
  ON(lseek(fd, 0, SEEK_SET));
  ON(ftruncate(fd, -1));
  ON(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1 : 0);
  ON(mmap(NULL, 10, PROT_READ, 0, fd, 0) == MAP_FAILED ? -1 : 0);
  ON(mmap(NULL, 10, PROT_READ, MAP_PRIVATE, fd, 1) == MAP_FAILED ? -1 : 0);
  ON(mmap(NULL, 10, PROT_READ, MAP_PRIVATE | MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
}

static void bad_waits(int fd) {
  struct pollfd one = {fd, POLLIN, 0};
  struct timespec bad = {0, -1}, negative = {-1, 0};
  fd_set set;
  FD_ZERO(&set);
  ON(poll(&one, 1, 0));
  ON(ppoll(&one, 1, &bad, NULL));
  ON(ppoll(&one, 1, &negative, NULL));
  if (fd >= 0 && fd < 500) {
    FD_SET(fd, &set);
    ON(select(fd + 1, &set, NULL, NULL, &(struct timeval){0, -1}));
    ON(select(fd + 1, &set, NULL, NULL, &(struct timeval){-1, 0}));
    ON(pselect(fd + 1, &set, NULL, NULL, &bad, NULL));
    ON(select(-1, &set, NULL, NULL, &(struct timeval){0, 0}));
  }
}

static void bad_others(int fd) {
  ON(inotify_add_watch(fd, ".", IN_CREATE));
  ON(tee(fd, 700, 1, 0));
  ON(tee(fd, fd, 0, 0));
  ON(tee(fd, fd, 1, 77));
}

static void arguments_of(int fd) {
  bad_controls(fd), bad_transfers(fd), bad_waits(fd), bad_others(fd);
  close(make("f", "some text"));
}

/* Every kind but the FIFO, on which calls may wait. */
static void limits(void) {
  close(make("f", "some text"));
  symlink("f", "l"), mkdir("d", 0755);
#define LIMITS(name, how)                             \
  if (strcmp(#name, "fifo") != 0) {                   \
    kind = #name;                                     \
    int fd = how;                                     \
    arguments_of(fd);                                 \
    if (fd >= 0) close(fd);                           \
  }
  KINDS(LIMITS)
}

PARTS({"limits", limits}, {"itself", itself}, {"descriptors", descriptors})
