/* Passes bad addresses in every place where a call takes one. The call returns EFAULT or an error
 * that the kernel finds earlier; the program never crashes. See show.h. */
#include <linux/fs.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <utime.h>

#include "show.h"

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wstringop-overflow"

/* What the calls are given; volatile, lest the compiler draw conclusions. */
static const struct {
  const char* name;
  uintptr_t value;
} fixed[] = {{"null", 0}, {"one", 1}, {"minus one", (uintptr_t)-1}};
static const char* what;
static char* volatile nowhere;
static char* tail; /* what calls may have written before such an end */
static sigjmp_buf away;

static void fault(int number) { siglongjmp(away, number); }

#define TRY(call)                                                                   \
  do {                                                                              \
    if (tail != NULL) memset(tail, 'x', 3);                                         \
    errno = 0;                                                                      \
    int fault_ = sigsetjmp(away, 1);                                                \
    long value = fault_ != 0 ? 0 : (long)(call);                                    \
    printf("%s: %s = %ld%s%s%s\n", what, #call, value, value < 0 ? " " : "",        \
           value < 0 ? strerrorname_np(errno) : "", fault_ != 0 ? ": a fault" : ""); \
  } while (0)

/* Runs `each` for every such address, and for text that has no end before what cannot be read. */
static void for_all(void (*each)(void)) {
  struct sigaction action = {.sa_handler = fault};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  const size_t page = 4096;
  char* pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 'x', page);
  mprotect(pages + page, page, PROT_NONE);
  for (int i = 0; i < 5; ++i) {
    what = i < 3 ? fixed[i].name : i == 3 ? "no access" : "no end";
    nowhere = i < 3 ? (char*)fixed[i].value : i == 3 ? pages + page : pages + page - 3;
    tail = i == 4 ? nowhere : NULL;
    each();
  }
  tail = NULL;
  munmap(pages, 3 * page);
  what = "gone";
  nowhere = pages;
  each();
  signal(SIGSEGV, SIG_DFL);
  signal(SIGBUS, SIG_DFL);
}

static int file, directory, outside;

static void prepare(void) {
  file = make("f", "text");
  mkdir("d", 0755), symlink("f", "l"), mkfifo("p", 0644);
  directory = open("d", O_RDONLY | O_DIRECTORY);
  outside = open("/dev", O_RDONLY | O_DIRECTORY);
  setxattr("f", "user.a", "value", 5, 0);
}

/* In the place of paths. */
static void with_paths(void) {
  struct stat st;
  struct statx more;
  struct statfs space;
  const struct timespec times[2] = {{1, 1}, {2, 2}};
  const int from[] = {AT_FDCWD, directory, outside, file, -1};
  for (volatile int i = 0; i < 5; ++i) { /* a fault jumps back into it */
    int dir = from[i];
    printf("from %d\n", i);
    TRY(openat(dir, nowhere, O_RDONLY));
    TRY(openat(dir, nowhere, O_RDWR | O_CREAT, 0644));
    TRY(fstatat(dir, nowhere, &st, 0));
    TRY(fstatat(dir, nowhere, &st, AT_SYMLINK_NOFOLLOW));
    TRY(fstatat(dir, nowhere, &st, 0x40000000));
    if (nowhere != NULL) TRY(fstatat(dir, nowhere, &st, AT_EMPTY_PATH));
    TRY(statx(dir, nowhere, 0, STATX_ALL, &more));
    if (nowhere != NULL) TRY(statx(dir, nowhere, AT_EMPTY_PATH, STATX_ALL, &more));
    TRY(faccessat(dir, nowhere, F_OK, 0));
    TRY(faccessat(dir, nowhere, 8, 0));
    TRY(readlinkat(dir, nowhere, buffer, 10));
    TRY(readlinkat(dir, nowhere, buffer, 0));
    TRY(mkdirat(dir, nowhere, 0755));
    TRY(mknodat(dir, nowhere, S_IFREG | 0644, 0));
    TRY(mkfifoat(dir, nowhere, 0644));
    TRY(unlinkat(dir, nowhere, 0));
    TRY(unlinkat(dir, nowhere, AT_REMOVEDIR));
    TRY(unlinkat(dir, nowhere, 77));
    TRY(fchmodat(dir, nowhere, 0600, 0));
    TRY(fchownat(dir, nowhere, 0, 0, 0));
    TRY(fchownat(dir, nowhere, 0, 0, AT_EMPTY_PATH));
    if (nowhere != NULL) TRY(utimensat(dir, nowhere, times, 0));
    TRY(renameat(dir, nowhere, AT_FDCWD, "to"));
    TRY(renameat(AT_FDCWD, "f", dir, nowhere));
    TRY(renameat(AT_FDCWD, "missing", dir, nowhere));
    TRY(renameat(AT_FDCWD, "missing/x", dir, nowhere));
    TRY(renameat(dir, nowhere, AT_FDCWD, "missing/x"));
    TRY(renameat2(dir, nowhere, AT_FDCWD, "to", 77));
    TRY(renameat2(AT_FDCWD, "f", dir, nowhere, RENAME_NOREPLACE));
    TRY(renameat(dir, nowhere, AT_FDCWD, "/dev/none"));
    TRY(renameat(dir, nowhere, dir, nowhere));
    TRY(linkat(dir, nowhere, AT_FDCWD, "to", 0));
    TRY(linkat(dir, nowhere, AT_FDCWD, "to", AT_EMPTY_PATH));
    TRY(linkat(dir, nowhere, AT_FDCWD, "to", AT_SYMLINK_FOLLOW));
    TRY(linkat(dir, nowhere, AT_FDCWD, "to", 77));
    TRY(linkat(AT_FDCWD, "f", dir, nowhere, 0));
    TRY(linkat(AT_FDCWD, "missing", dir, nowhere, 0));
    TRY(linkat(AT_FDCWD, "f", dir, nowhere, 77));
    TRY(linkat(file, "", dir, nowhere, AT_EMPTY_PATH));
    TRY(linkat(dir, nowhere, dir, nowhere, 0));
    TRY(symlinkat(nowhere, dir, "to"));
    TRY(symlinkat("f", dir, nowhere));
    TRY(symlinkat(nowhere, dir, nowhere));
    TRY(execveat(dir, nowhere, (char*[]){"x", NULL}, environ, 0));
    TRY(execveat(dir, nowhere, (char*[]){"x", NULL}, environ, AT_EMPTY_PATH));
    uint64_t how[3] = {O_RDONLY, 0, 0};
    TRY(syscall(SYS_openat2, dir, nowhere, how, sizeof how));
    how[2] = 8;
    TRY(syscall(SYS_openat2, dir, nowhere, how, sizeof how));
    TRY(syscall(SYS_openat2, dir, "f", nowhere, sizeof how));
  }
  TRY(open(nowhere, O_RDONLY));
  TRY(open(nowhere, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  TRY(creat(nowhere, 0644));
  TRY(stat(nowhere, &st));
  TRY(lstat(nowhere, &st));
  TRY(access(nowhere, R_OK));
  TRY(readlink(nowhere, buffer, 10));
  TRY(truncate(nowhere, 0));
  TRY(truncate(nowhere, -1));
  TRY(mkdir(nowhere, 0755));
  TRY(mknod(nowhere, S_IFREG | 0644, 0));
  TRY(mknod(nowhere, 0170000, 0));
  TRY(mkfifo(nowhere, 0644));
  TRY(rmdir(nowhere));
  TRY(unlink(nowhere));
  TRY(remove(nowhere));
  TRY(rename(nowhere, "to"));
  TRY(rename("f", nowhere));
  TRY(rename(nowhere, nowhere));
  TRY(link(nowhere, "to"));
  TRY(link("f", nowhere));
  TRY(link(nowhere, nowhere));
  TRY(symlink(nowhere, "to"));
  TRY(symlink("f", nowhere));
  TRY(symlink(nowhere, nowhere));
  TRY(chmod(nowhere, 0600));
  TRY(chown(nowhere, 0, 0));
  TRY(lchown(nowhere, 0, 0));
  TRY(syscall(SYS_utimensat, AT_FDCWD, "f", nowhere, 0));
  TRY(syscall(SYS_utimensat, AT_FDCWD, nowhere, times, 0));
  TRY(syscall(SYS_utime, nowhere, NULL));
  TRY(syscall(SYS_utimes, nowhere, NULL));
  TRY(statfs(nowhere, &space));
  TRY(pathconf(nowhere, _PC_NAME_MAX));
  TRY(chdir(nowhere));
  TRY(getxattr(nowhere, "user.a", buffer, 10));
  TRY(lgetxattr(nowhere, "user.a", buffer, 10));
  TRY(setxattr(nowhere, "user.a", "1", 1, 0));
  TRY(setxattr(nowhere, "user.a", "1", 1, 77));
  TRY(listxattr(nowhere, buffer, 10));
  TRY(llistxattr(nowhere, buffer, 10));
  TRY(removexattr(nowhere, "user.a"));
  TRY(execve(nowhere, (char*[]){"x", NULL}, environ));
  int watch = inotify_init();
  TRY(inotify_add_watch(watch, nowhere, IN_CREATE));
  close(watch);
  TRY(access("to", F_OK));
}

static void paths(void) {
  prepare();
  for_all(with_paths);
  if (chdir("/") != 0) exit(1);
  for_all(with_paths);
}

/* In the place of what a call reads or writes besides. */
static void with_places(void) {
  TRY(stat("f", (struct stat*)nowhere));
  TRY(stat("missing", (struct stat*)nowhere));
  TRY(lstat("l", (struct stat*)nowhere));
  TRY(fstat(file, (struct stat*)nowhere));
  TRY(fstat(directory, (struct stat*)nowhere));
  TRY(fstatat(directory, "", (struct stat*)nowhere, AT_EMPTY_PATH));
  TRY(statx(AT_FDCWD, "f", 0, STATX_ALL, (struct statx*)nowhere));
  TRY(statx(file, "", AT_EMPTY_PATH, STATX_ALL, (struct statx*)nowhere));
  TRY(statfs("f", (struct statfs*)nowhere));
  TRY(fstatfs(file, (struct statfs*)nowhere));
  TRY(readlink("l", nowhere, 10));
  TRY(readlink("f", nowhere, 10));
  TRY(readlink("l", nowhere, 0));
  if (nowhere != NULL) TRY(getcwd(nowhere, PATH_MAX) != NULL ? 0 : -1);
  TRY(syscall(SYS_getcwd, nowhere, PATH_MAX));
  TRY(syscall(SYS_getcwd, nowhere, 1));
  TRY(syscall(SYS_getdents64, directory, nowhere, 1000));
  TRY(lseek(directory, 0, SEEK_SET));
  TRY(getxattr("f", nowhere, buffer, 10));
  TRY(getxattr("f", "user.a", nowhere, 10));
  TRY(getxattr("f", "user.a", nowhere, 1));
  TRY(getxattr("f", "user.a", nowhere, 0));
  TRY(fgetxattr(file, "user.a", nowhere, 10));
  TRY(setxattr("f", nowhere, "1", 1, 0));
  TRY(setxattr("f", "user.b", nowhere, 4, 0));
  TRY(setxattr("f", "user.b", nowhere, 0, 0));
  TRY(fsetxattr(file, "user.c", nowhere, 4, 0));
  TRY(removexattr("f", nowhere));
  TRY(removexattr("f", "user.b"));
  TRY(listxattr("f", nowhere, 100));
  TRY(flistxattr(file, nowhere, 100));
  TRY(syscall(SYS_utimensat, AT_FDCWD, "missing", nowhere, 0));
  TRY(syscall(SYS_utimensat, file, NULL, nowhere, 0));
  TRY(syscall(SYS_utime, "f", nowhere));
  TRY(syscall(SYS_utimes, "f", nowhere));
  TRY(syscall(SYS_futimesat, AT_FDCWD, "f", nowhere));
  TRY(fcntl(file, F_GETLK, nowhere));
  TRY(fcntl(file, F_SETLK, nowhere));
  TRY(fcntl(file, F_OFD_GETLK, nowhere));
  TRY(fcntl(file, F_GETOWN_EX, nowhere));
  TRY(fcntl(file, F_SETOWN_EX, nowhere));
  TRY(ioctl(file, FIONREAD, nowhere));
  TRY(ioctl(file, FIGETBSZ, nowhere));
  TRY(ioctl(file, FS_IOC_GETFLAGS, nowhere));
  TRY(ioctl(file, FS_IOC_SETFLAGS, nowhere));
  TRY(ioctl(file, FIONBIO, nowhere));
  TRY(readv(file, (struct iovec*)nowhere, 0));
  char* words[] = {"echo", NULL};
  char* bad[] = {"echo", nowhere == NULL ? (char*)1 : nowhere, NULL};
  int program = make("program", "#!/bin/sh\nexit 0\n");
  fchmod(program, 0755), close(program);
  if (nowhere != NULL) {
    TRY(execve("/bin/echo", (char**)nowhere, environ));
    TRY(execve("/bin/echo", words, (char**)nowhere));
    TRY(execve("missing", (char**)nowhere, environ));
    TRY(execve("program", (char**)nowhere, environ));
    TRY(execve("program", words, (char**)nowhere));
    TRY(execveat(directory, "../program", (char**)nowhere, environ, 0));
    TRY(fexecve(open("/bin/echo", O_RDONLY), words, (char**)nowhere));
  }
  TRY(execve("/bin/echo", bad, environ));
  TRY(execve("/bin/echo", words, bad));
  TRY(execve("program", bad, environ));
  TRY(execve("program", words, bad));
  pid_t child;
  /* The child's stack may come to lie where memory has gone. */
  if (strcmp(what, "gone") != 0) {
    TRY(posix_spawn(&child, "/bin/echo", NULL, NULL, bad, environ));
    TRY(posix_spawn(&child, "program", NULL, NULL, bad, environ));
    TRY(posix_spawn(&child, "program", NULL, NULL, words, bad));
  }
  int ends[2], other = open("other", O_RDWR | O_CREAT, 0644);
  if (pipe(ends) != 0 || write(ends[1], "piped", 5) != 5) exit(1);
  if (nowhere != NULL) {
    TRY(sendfile(other, file, (off_t*)nowhere, 2));
    TRY(copy_file_range(file, (off_t*)nowhere, other, NULL, 2, 0));
    TRY(copy_file_range(file, NULL, other, (off_t*)nowhere, 2, 0));
    TRY(splice(file, (off_t*)nowhere, ends[1], NULL, 2, 0));
    TRY(splice(ends[0], NULL, file, (off_t*)nowhere, 2, 0));
    TRY(splice(ends[0], (off_t*)nowhere, file, NULL, 2, 0));
  }
  close(other), close(ends[0]), close(ends[1]);
}

static void places(void) {
  prepare();
  for_all(with_places);
  /* What can be read only. */
  char* pages = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {.sa_handler = fault};
  sigaction(SIGSEGV, &action, NULL);
  what = "read only";
  nowhere = pages;
  TRY(stat("f", (struct stat*)nowhere));
  TRY(fstat(file, (struct stat*)nowhere));
  TRY(statx(AT_FDCWD, "f", 0, STATX_ALL, (struct statx*)nowhere));
  TRY(statfs("f", (struct statfs*)nowhere));
  TRY(readlink("l", nowhere, 10));
  TRY(getcwd(nowhere, PATH_MAX) != NULL ? 0 : -1);
  TRY(syscall(SYS_getdents64, directory, nowhere, 1000));
  TRY(getxattr("f", "user.a", nowhere, 10));
  TRY(listxattr("f", nowhere, 100));
  TRY(fcntl(file, F_GETLK, nowhere));
  TRY(fcntl(file, F_GETOWN_EX, nowhere));
  TRY(ioctl(file, FIONREAD, nowhere));
  TRY(ioctl(file, FIGETBSZ, nowhere));
  /* The same once it was good. */
  mprotect(pages, 4096, PROT_READ | PROT_WRITE);
  TRY(stat("f", (struct stat*)nowhere));
  memcpy(nowhere, "f", 2);
  TRY(access(nowhere, F_OK));
  mprotect(pages, 4096, PROT_READ);
  TRY(stat("f", (struct stat*)nowhere));
  TRY(access(nowhere, F_OK));
  mprotect(pages, 4096, PROT_NONE);
  TRY(access(nowhere, F_OK));
  mprotect(pages, 4096, PROT_READ);
  TRY(access(nowhere, F_OK));
  mmap(pages, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  TRY(access(nowhere, F_OK));
  mmap(pages, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memcpy(nowhere, "f", 2);
  TRY(access(nowhere, F_OK));
  munmap(pages, 4096);
  TRY(access(nowhere, F_OK));
}

/* Calls on sockets and lists of descriptors: Cairn looks there to find out whether it serves them.
 */
static int internet, local;

static void with_others(void) {
  const int sockets[] = {internet, local, file};
  struct pollfd one = {file, POLLIN, 0};
  struct timespec at_once = {0, 0};
  for (volatile int i = 0; i < 3; ++i) { /* likewise */
    int on = sockets[i];
    printf("socket %d\n", i);
    TRY(bind(on, (struct sockaddr*)nowhere, 16));
    TRY(bind(on, (struct sockaddr*)nowhere, 110));
    TRY(bind(on, (struct sockaddr*)nowhere, 1000));
    TRY(connect(on, (struct sockaddr*)nowhere, 16));
    TRY(connect(on, (struct sockaddr*)nowhere, 1000));
    TRY(sendto(on, "x", 1, 0, (struct sockaddr*)nowhere, 16));
    TRY(sendmsg(on, (struct msghdr*)nowhere, 0));
    struct iovec piece = {"x", 1};
    struct msghdr named = {
        .msg_name = nowhere, .msg_namelen = 16, .msg_iov = &piece, .msg_iovlen = 1};
    TRY(sendmsg(on, &named, 0));
    TRY(recvmsg(on, &named, MSG_DONTWAIT));
    struct msghdr controlled = {
        .msg_control = nowhere, .msg_controllen = 100, .msg_iov = &piece, .msg_iovlen = 1};
    TRY(sendmsg(on, &controlled, 0));
    TRY(sendmmsg(on, (struct mmsghdr*)nowhere, 2, 0));
    TRY(recvmsg(on, (struct msghdr*)nowhere, MSG_DONTWAIT));
    TRY(recvmmsg(on, (struct mmsghdr*)nowhere, 2, MSG_DONTWAIT, NULL));
    socklen_t size = 16;
    TRY(getsockname(on, (struct sockaddr*)nowhere, &size));
    TRY(getsockname(on, (struct sockaddr*)buffer, (socklen_t*)nowhere));
    TRY(getpeername(on, (struct sockaddr*)buffer, (socklen_t*)nowhere));
    TRY(recvfrom(on, buffer, 1, MSG_DONTWAIT, (struct sockaddr*)buffer, (socklen_t*)nowhere));
    TRY(accept(on, (struct sockaddr*)buffer, (socklen_t*)nowhere));
  }
  /* A message that is there. */
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) exit(1);
  for (int i = 0; i < 3; ++i)
    if (write(pair[0], "abc", 3) != 3) exit(1);
  struct iovec piece = {buffer, 3};
  struct msghdr message = {
      .msg_name = nowhere, .msg_namelen = 16, .msg_iov = &piece, .msg_iovlen = 1};
  socklen_t size = 16;
  TRY(recvmsg(pair[1], &message, MSG_DONTWAIT));
  TRY(recvfrom(pair[1], buffer, 3, MSG_DONTWAIT, (struct sockaddr*)nowhere, &size));
  close(pair[0]), close(pair[1]);
  TRY(poll((struct pollfd*)nowhere, 2, 0));
  TRY(poll((struct pollfd*)nowhere, 0, 0));
  TRY(poll((struct pollfd*)nowhere, (nfds_t)-1, 0));
  TRY(poll(&one, 1 << 30, 0));
  TRY(ppoll((struct pollfd*)nowhere, 2, &at_once, NULL));
  TRY(ppoll(&one, 1, &at_once, NULL));
  if (nowhere != NULL) {
    TRY(select(10, (fd_set*)nowhere, NULL, NULL, &(struct timeval){0, 0}));
    TRY(select(10, NULL, (fd_set*)nowhere, NULL, &(struct timeval){0, 0}));
    TRY(select(10, NULL, NULL, (fd_set*)nowhere, &(struct timeval){0, 0}));
    TRY(pselect(10, (fd_set*)nowhere, NULL, NULL, &at_once, NULL));
  }
  TRY(select(-1, (fd_set*)nowhere, NULL, NULL, &(struct timeval){0, 0}));
  int epoll = epoll_create(1);
  TRY(epoll_ctl(epoll, EPOLL_CTL_ADD, file, (struct epoll_event*)nowhere));
  TRY(epoll_ctl(epoll, EPOLL_CTL_ADD, local, (struct epoll_event*)nowhere));
  TRY(epoll_ctl(epoll, EPOLL_CTL_DEL, file, (struct epoll_event*)nowhere));
  TRY(epoll_ctl(-1, EPOLL_CTL_ADD, file, (struct epoll_event*)nowhere));
  close(epoll);
}

static void others(void) {
  prepare();
  internet = socket(AF_INET, SOCK_DGRAM, 0), local = socket(AF_UNIX, SOCK_DGRAM, 0);
  for_all(with_others);
}

PARTS({"paths", paths}, {"places", places}, {"others", others})
