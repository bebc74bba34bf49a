/* Makes calls of every kind in the working directory and prints what they return: the same lines in
 * a covered directory as in a plain one. One paragraph per trap. */
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <wchar.h>

extern char** environ;

/* The value of a call, and its errno if it failed. */
#define SHOW(call)                                                                     \
  do {                                                                                 \
    errno = 0;                                                                         \
    long value = (long)(call);                                                         \
    printf("%s = %ld%s%s\n", #call, value, value < 0 ? " " : "",                       \
           value < 0 ? strerrorname_np(errno) : "");                                   \
    if (value >= 0 && errno != 0 && getenv("CAIRN_COVER") && !strstr(#call, "= NULL")) \
      printf("  errno changed to %d\n", errno);                                        \
  } while (0)

static char buffer[1 << 16];

static void show_file(const char* path) {
  int fd = open(path, O_RDONLY);
  ssize_t got = fd < 0 ? -1 : read(fd, buffer, sizeof buffer);
  printf("%s holds %zd: %.*s\n", path, got, got > 200 ? 200 : (int)(got < 0 ? 0 : got), buffer);
  close(fd);
}

static int make(const char* path, const char* text) {
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (write(fd, text, strlen(text)) < 0) perror(path);
  return fd;
}

static void data(void) {
  int fd = make("data", "0123456789");
  struct iovec two[2] = {{"ab", 2}, {"cde", 3}};
  struct iovec in[2] = {{buffer, 3}, {buffer + 3, 100}};
  SHOW(pwritev(fd, two, 2, 3));
  SHOW(preadv(fd, in, 2, 0));
  SHOW(pwritev2(fd, two, 2, -1, 0));
  SHOW(preadv2(fd, in, 2, 1, 0));
  SHOW(preadv(fd, in, -1, 0));
  SHOW(pread(fd, buffer, 1, -1));
  SHOW(pwrite(fd, "x", 1, 5000));
  SHOW(lseek(fd, 0, SEEK_END));
  SHOW(lseek(fd, -1, SEEK_SET));
  SHOW(lseek(fd, 6000, SEEK_DATA));
  SHOW(lseek(fd, 0, SEEK_HOLE) > 0);
  SHOW(read(fd, buffer, 10));
  SHOW(ftruncate(fd, 20));
  SHOW(posix_fallocate(fd, 0, 100));
  SHOW(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4));
  SHOW(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
  SHOW(fsync(fd));
  SHOW(fdatasync(fd));
  int left = -1;
  SHOW(lseek(fd, 10, SEEK_SET));
  SHOW(ioctl(fd, FIONREAD, &left));
  printf("left %d\n", left);
  SHOW(ioctl(fd, FIOCLEX));
  SHOW(fcntl(fd, F_GETFD));
  SHOW(ioctl(fd, TIOCGWINSZ, buffer));
  int ro = open("data", O_RDONLY);
  SHOW(write(ro, "x", 1));
  SHOW(ftruncate(ro, 1));
  int wo = open("data", O_WRONLY);
  SHOW(read(wo, buffer, 1));
  int path = open("data", O_PATH);
  SHOW(read(path, buffer, 1));
  SHOW(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND));
  SHOW(fcntl(fd, F_SETFL, O_APPEND));
  SHOW(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND));
  SHOW(write(fd, "end", 3));
  SHOW(lseek(fd, 0, SEEK_CUR));
  int out = make("copy", "");
  off_t from = 2;
  SHOW(sendfile(out, ro, &from, 10));
  SHOW(copy_file_range(ro, NULL, out, NULL, 5, 0));
  int ends[2];
  if (pipe(ends) != 0) return;
  SHOW(splice(ro, NULL, ends[1], NULL, 7, 0));
  SHOW(splice(ends[0], NULL, out, NULL, 7, 0));
  SHOW(sendfile(ends[1], ro, NULL, 3));
  SHOW(read(ends[0], buffer, 100));
  show_file("copy");
  close(fd), close(ro), close(wo), close(path), close(out), close(ends[0]), close(ends[1]);
  SHOW(read(fd, buffer, 1));
}

static void opening(void) {
  close(make("file", "text"));
  mkdir("dir", 0755);
  SHOW(symlink("file", "link"));
  SHOW(symlink("nowhere", "dangling"));
  SHOW(open("missing", O_RDONLY));
  SHOW(open("file/x", O_RDONLY));
  SHOW(open("file/", O_RDONLY));
  SHOW(open("dir", O_WRONLY));
  SHOW(open("dir", O_RDONLY | O_CREAT, 0600));
  SHOW(open("file", O_RDONLY | O_DIRECTORY));
  SHOW(open("file", O_CREAT | O_EXCL | O_RDWR, 0600));
  SHOW(open("link", O_RDONLY | O_NOFOLLOW));
  SHOW(open("dangling", O_CREAT | O_EXCL | O_WRONLY, 0600));
  SHOW(open("", O_RDONLY));
  SHOW(open("new/", O_CREAT | O_WRONLY, 0600));
  SHOW(open("dangling", O_CREAT | O_WRONLY, 0640) >= 0);
  struct stat st;
  SHOW(stat("nowhere", &st));
  printf("mode %o\n", st.st_mode);
  umask(027);
  SHOW(close(creat("masked", 0666)));
  stat("masked", &st);
  printf("mode %o\n", st.st_mode);
  umask(022);
  int fd = open("dir", O_RDONLY | O_DIRECTORY);
  SHOW(openat(fd, "inside", O_CREAT | O_RDWR, 0600) >= 0);
  SHOW(openat(fd, "../file", O_RDONLY) >= 0);
  SHOW(read(fd, buffer, 1));
  SHOW(pwrite(fd, buffer, 1, 0));
  int tmp = open(".", O_TMPFILE | O_RDWR, 0600);
  SHOW(tmp >= 0);
  SHOW(write(tmp, "tmp", 3));
  SHOW(pread(tmp, buffer, 10, 0));
  SHOW(open("missing", O_TMPFILE | O_RDWR, 0600));
  SHOW(fcntl(open("file", O_RDONLY | O_CLOEXEC), F_GETFD));
  char name[] = "tempXXXXXX", suffixed[] = "tXXXXXX.c", directory[] = "tdXXXXXX", bad[] = "short";
  SHOW(mkstemp(name) >= 0);
  SHOW(mkstemps(suffixed, 2) >= 0);
  SHOW(mkdtemp(directory) != NULL);
  SHOW(mkstemp(bad));
  unlink(name), unlink(suffixed), rmdir(directory);
  char self[64];
  int file = open("file", O_RDONLY);
  read(file, buffer, 2);
  snprintf(self, sizeof self, "/proc/self/fd/%d", file);
  int again = open(self, O_RDWR);
  SHOW(read(again, buffer, 100));
  snprintf(self, sizeof self, "/dev/fd/%d", file);
  SHOW(stat(self, &st));
  SHOW(st.st_size);
  SHOW(access("file", R_OK | W_OK));
  SHOW(access("file", X_OK));
  SHOW(faccessat(fd, "inside", F_OK, 0));
}

static void duplicates(void) {
  int fd = make("dups", "0123456789");
  lseek(fd, 0, SEEK_SET);
  int other = dup(fd), far = fcntl(fd, F_DUPFD, 200), third = dup2(fd, 77),
      fourth = dup3(fd, 78, O_CLOEXEC);
  printf("numbers %d %d %d\n", far, third, fourth);
  SHOW(read(other, buffer, 3));
  SHOW(lseek(far, 0, SEEK_CUR));
  SHOW(fcntl(fourth, F_GETFD));
  SHOW(close(fd));
  SHOW(read(third, buffer, 100));
  SHOW(dup2(far, far));
  SHOW(dup3(far, far, 0));
  SHOW(dup2(1000, 5));
  int null = open("/dev/null", O_RDWR);
  SHOW(dup2(null, third));
  SHOW(write(third, "gone", 4));
  SHOW(close_range(77, 78, 0));
  SHOW(read(fourth, buffer, 1));
  SHOW(lseek(far, 0, SEEK_SET));
  SHOW(close(far));
  closefrom(100);
  SHOW(close(other));
  int next = open("dups", O_RDONLY);
  int lowest = dup(next);
  printf("lowest %d\n", lowest - next);
  close(next), close(lowest), close(null);
}

static void names(void) {
  close(make("one", "1"));
  SHOW(link("one", "two"));
  SHOW(rename("one", "three"));
  SHOW(renameat2(AT_FDCWD, "two", AT_FDCWD, "three", RENAME_NOREPLACE));
  close(make("four", "4"));
  SHOW(renameat2(AT_FDCWD, "two", AT_FDCWD, "four", RENAME_EXCHANGE));
  show_file("two");
  mkdir("d1", 0700), mkdir("d2", 0700), close(make("d2/f", ""));
  SHOW(rename("d1", "d2"));
  SHOW(rename("d1", "d1/sub"));
  SHOW(rename("two", "d1"));
  SHOW(rename("d1", "two"));
  SHOW(rmdir("d2"));
  SHOW(rmdir("d2/."));
  SHOW(rmdir("."));
  SHOW(unlink("d2"));
  SHOW(unlink("d2/f"));
  SHOW(unlinkat(AT_FDCWD, "d2", AT_REMOVEDIR));
  SHOW(remove("d1"));
  SHOW(mkdir("d1/a/b", 0700));
  SHOW(mkdir("three", 0700));
  SHOW(mkdir("d3/", 0700));
  SHOW(symlink("", "empty"));
  SHOW(readlink("three", buffer, 10));
  SHOW(symlink("0123456789", "sl"));
  SHOW(readlink("sl", buffer, 4));
  SHOW(link("d3", "d4"));
  char longest[300];
  memset(longest, 'n', sizeof longest);
  longest[255] = '\0';
  SHOW(mkdir(longest, 0700));
  longest[255] = 'n', longest[256] = '\0';
  SHOW(mkdir(longest, 0700));
  SHOW(rename("three", "/tmp/missing"));
  int fd = make("gone", "still here");
  SHOW(unlink("gone"));
  struct stat st;
  SHOW(fstat(fd, &st));
  printf("links %d\n", (int)st.st_nlink);
  SHOW(pread(fd, buffer, 100, 0));
  char* real = realpath("d3/../sl/..", NULL);
  SHOW(real != NULL);
  symlink("d3", "sd");
  real = realpath("sd/../three", NULL);
  printf("%s\n", real == NULL ? "none" : strrchr(real, '/'));
}

static void attributes(void) {
  int fd = make("attr", "x");
  struct stat st;
  struct timespec times[2] = {{1000, 5}, {2000, 7}};
  SHOW(futimens(fd, times));
  struct timespec omitted[2] = {{0, UTIME_OMIT}, {3000, 9}};
  SHOW(utimensat(AT_FDCWD, "attr", omitted, 0));
  stat("attr", &st);
  printf("times %ld.%ld %ld.%ld\n", st.st_atim.tv_sec, st.st_atim.tv_nsec, st.st_mtim.tv_sec,
         st.st_mtim.tv_nsec);
  SHOW(utimensat(AT_FDCWD, "attr", NULL, 0));
  SHOW(utimensat(AT_FDCWD, "missing", NULL, 0));
  SHOW(chmod("attr", 04711));
  SHOW(fchmod(fd, 0600));
  fstat(fd, &st);
  printf("mode %o\n", st.st_mode);
  SHOW(fchown(fd, -1, -1));
  SHOW(setxattr("attr", "user.one", "value", 5, 0));
  SHOW(fsetxattr(fd, "user.two", "", 0, XATTR_CREATE));
  SHOW(fsetxattr(fd, "user.two", "", 0, XATTR_CREATE));
  SHOW(getxattr("attr", "user.one", buffer, 100));
  SHOW(getxattr("attr", "user.one", buffer, 2));
  SHOW(getxattr("attr", "user.none", buffer, 2));
  SHOW(removexattr("attr", "user.one"));
  SHOW(getxattr("attr", "user.one", NULL, 0));
  SHOW(setxattr("attr", "odd.one", "value", 5, 0));
  struct statx stx;
  SHOW(statx(AT_FDCWD, "attr", 0, STATX_BASIC_STATS, &stx));
  SHOW(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx));
  printf("size %d\n", (int)stx.stx_size);
  SHOW(fstatat(fd, "", &st, AT_EMPTY_PATH));
  SHOW(fstatat(AT_FDCWD, "", &st, AT_EMPTY_PATH));
  SHOW(S_ISDIR(st.st_mode));
  SHOW(fstatat(fd, "x", &st, 0));
  struct statvfs vfs;
  SHOW(statvfs("attr", &vfs));
  SHOW(fstatvfs(fd, &vfs));
  SHOW(vfs.f_bavail > 0);
  SHOW(truncate("attr", 100));
  SHOW(truncate("attr", -1));
  SHOW(truncate(".", 1));
  SHOW(pathconf("attr", _PC_NAME_MAX));
}

static int order(const struct dirent** a, const struct dirent** b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}
static int no_dots(const struct dirent* entry) { return entry->d_name[0] != '.'; }
static int visits;
static int visit(const char* path, const struct stat* st, int type, struct FTW* where) {
  (void)st;
  visits += (type == FTW_F ? 1 : 100) * (where->level + 1) + (int)strlen(path + where->base);
  return 0;
}

static void directories(void) {
  mkdir("list", 0755);
  char name[64];
  for (int i = 0; i < 100; ++i) {
    snprintf(name, sizeof name, "list/f%03d", i);
    close(make(name, ""));
  }
  mkdir("list/sub", 0755);
  DIR* stream = opendir("list");
  int count = 0, types = 0;
  long middle = 0;
  char after[256] = "";
  for (struct dirent* e; (e = readdir(stream)) != NULL; ++count) {
    types += e->d_type == DT_REG ? 1 : e->d_type == DT_DIR ? 1000 : 1000000;
    if (count == 50) middle = telldir(stream);
    if (count == 51) snprintf(after, sizeof after, "%s", e->d_name);
  }
  printf("%d entries, types %d\n", count, types);
  seekdir(stream, middle);
  printf("seekdir %s\n",
         strcmp(readdir(stream)->d_name, after) == 0 ? "finds its place" : "is lost");
  rewinddir(stream);
  printf("rewinddir %s\n", readdir(stream)->d_name[0] == '.' ? "starts again" : "?");
  struct stat a, b;
  fstat(dirfd(stream), &a), stat("list", &b);
  SHOW(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
  /* Removing while reading leaves nothing out. */
  rewinddir(stream);
  for (struct dirent* e; (e = readdir(stream)) != NULL;) {
    if (e->d_name[0] == 'f') unlinkat(dirfd(stream), e->d_name, 0);
  }
  SHOW(closedir(stream));
  struct dirent** entries;
  SHOW(scandir("list", &entries, no_dots, order));
  for (int i = 0; i < 30; ++i) {
    snprintf(name, sizeof name, "list/sub/g%d", i);
    close(make(name, ""));
  }
  glob_t found;
  SHOW(glob("li*/s?b/g1*", 0, NULL, &found));
  SHOW(found.gl_pathc);
  printf("%s\n", found.gl_pathv[0]);
  globfree(&found);
  SHOW(nftw("list", visit, 10, FTW_PHYS | FTW_DEPTH));
  SHOW(visits);
  int fd = open("list/sub", O_RDONLY | O_DIRECTORY);
  int total = 0;
  for (ssize_t got; (got = getdents64(fd, buffer, 512)) > 0;) {
    for (ssize_t at = 0; at < got; ++total) at += ((struct dirent64*)(buffer + at))->d_reclen;
  }
  SHOW(total);
  SHOW(opendir("list/none") != NULL);
  SHOW(fdopendir(make("plain", "")) != NULL);
  SHOW(chdir("list/sub"));
  SHOW(access("g5", F_OK));
  SHOW(chdir(".."));
  printf("%s\n", strrchr(getcwd(buffer, sizeof buffer), '/'));
  SHOW(fchdir(fd));
  printf("%s\n", strrchr(getcwd(buffer, sizeof buffer), '/'));
  SHOW(getcwd(buffer, 3) == NULL ? -1 : 0);
  SHOW(chdir("g5"));
  SHOW(chdir("../.."));
}

static void mappings(void) {
  int fd = make("map", "mapped");
  ftruncate(fd, 20000);
  char* p = mmap(NULL, 20000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  SHOW(p != MAP_FAILED);
  memcpy(p + 8000, "hole", 4);
  SHOW(pread(fd, buffer, 4, 8000));
  printf("%.4s\n", buffer);
  SHOW(pwrite(fd, "written", 7, 12288));
  printf("%.7s\n", p + 12288);
  SHOW(msync(p, 20000, MS_SYNC));
  SHOW(msync(p + 1, 10, MS_SYNC));
  char* q = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 8192);
  q[0] = '!';
  SHOW(pread(fd, buffer, 1, 8192));
  SHOW(buffer[0]);
  SHOW(munmap(p + 4096, 4096));
  SHOW(close(fd));
  printf("%.6s\n", p);
  p[0] = 'M';
  SHOW(munmap(p, 20000));
  show_file("map");
  SHOW(munmap(q, 4096));
  fd = open("map", O_RDWR);
  p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char* moved = mremap(p, 4096, 16384, MREMAP_MAYMOVE);
  SHOW(moved != MAP_FAILED);
  printf("%.4s\n", moved + 8000);
  if (fork() == 0) {
    memcpy(moved + 100, "child", 5);
    _exit(0);
  }
  wait(NULL);
  printf("%.5s\n", moved + 100);
  SHOW(munmap(moved, 16384));
  int ro = open("map", O_RDONLY);
  SHOW((long)mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, ro, 0));
  SHOW((long)mmap(NULL, 0, PROT_READ, MAP_SHARED, ro, 0));
  SHOW((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, ro, 1));
  SHOW((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, open(".", O_RDONLY), 0));
}

static void* wait_for_lock(void* fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10};
  return (void*)(long)fcntl((int)(long)fd, F_OFD_SETLKW, &lock);
}

static void locking(void) {
  int fd = make("lock", "0123456789");
  int other = open("lock", O_RDWR);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -5, .l_len = 3};
  SHOW(fcntl(fd, F_SETLK, &lock));
  pid_t child = fork();
  if (child == 0) {
    struct flock asked = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    SHOW(fcntl(fd, F_GETLK, &asked));
    printf("type %d start %ld length %ld mine %d\n", asked.l_type, (long)asked.l_start,
           (long)asked.l_len, asked.l_pid == getppid());
    asked = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 6, .l_len = 1};
    SHOW(fcntl(other, F_SETLK, &asked));
    fflush(stdout), _exit(0);
  }
  waitpid(child, NULL, 0);
  /* Closing any descriptor of the file drops the process's locks. */
  close(open("lock", O_RDONLY));
  fflush(stdout);
  if (fork() == 0) {
    struct flock asked = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    SHOW(fcntl(fd, F_SETLK, &asked));
    fflush(stdout), _exit(0);
  }
  wait(NULL);
  SHOW(flock(fd, LOCK_EX));
  SHOW(flock(other, LOCK_SH | LOCK_NB));
  int shared = dup(fd);
  SHOW(close(fd));
  SHOW(flock(other, LOCK_SH | LOCK_NB));
  SHOW(close(shared));
  SHOW(flock(other, LOCK_SH | LOCK_NB));
  fd = open("lock", O_RDWR);
  struct flock of_description = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10};
  SHOW(fcntl(fd, F_OFD_SETLK, &of_description));
  SHOW(fcntl(other, F_OFD_SETLK, &of_description));
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_lock, (void*)(long)other);
  usleep(10000);
  of_description.l_type = F_UNLCK;
  SHOW(fcntl(fd, F_OFD_SETLK, &of_description));
  void* got;
  pthread_join(thread, &got);
  printf("waited %ld\n", (long)got);
  SHOW(lseek(fd, 2, SEEK_SET));
  SHOW(lockf(fd, F_TLOCK, 4));
  SHOW(lockf(fd, F_ULOCK, 4));
  int ro = open("lock", O_RDONLY);
  lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
  SHOW(fcntl(ro, F_SETLK, &lock));
  /* A lock taken by a child on the description stays with the parent. */
  close(fd), close(other);
  fd = open("lock", O_RDWR);
  fflush(stdout);
  if (fork() == 0) _exit(flock(fd, LOCK_EX) != 0);
  int status;
  wait(&status);
  SHOW(status);
  SHOW(flock(ro, LOCK_EX | LOCK_NB));
}

static void waiting(void) {
  int fd = make("poll", "x"), ends[2];
  if (pipe(ends) != 0) return;
  struct pollfd fds[2] = {{fd, POLLIN | POLLOUT, 0}, {ends[0], POLLIN, 0}};
  SHOW(poll(fds, 2, 1000));
  printf("%x %x\n", fds[0].revents, fds[1].revents);
  write(ends[1], "x", 1);
  SHOW(ppoll(fds, 2, NULL, NULL));
  fd_set readers, writers;
  FD_ZERO(&readers);
  FD_ZERO(&writers);
  FD_SET(fd, &readers), FD_SET(ends[0], &readers), FD_SET(fd, &writers);
  SHOW(select(fd + 10, &readers, &writers, NULL, NULL));
  SHOW(FD_ISSET(fd, &readers) + FD_ISSET(ends[0], &readers) + FD_ISSET(fd, &writers));
  struct epoll_event event = {.events = EPOLLIN};
  SHOW(epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, fd, &event));
  struct aiocb request = {.aio_fildes = fd, .aio_buf = "async", .aio_nbytes = 5, .aio_offset = 1};
  SHOW(aio_write(&request));
  const struct aiocb* list[] = {&request};
  SHOW(aio_suspend(list, 1, NULL));
  SHOW(aio_error(&request));
  SHOW(aio_return(&request));
  show_file("poll");
}

static void streams(void) {
  FILE* f = fopen("stream", "w+");
  SHOW(f != NULL);
  SHOW(fprintf(f, "%d %s\n", 42, "words"));
  SHOW(fputs("line\n", f));
  SHOW(fseek(f, 0, SEEK_SET));
  int number = 0;
  char word[32];
  SHOW(fscanf(f, "%d %31s", &number, word));
  printf("%d %s\n", number, word);
  SHOW(ftell(f));
  SHOW(fileno(f) > 2);
  char* line = NULL;
  size_t room = 0;
  getline(&line, &room, f);
  SHOW(getline(&line, &room, f));
  SHOW(getline(&line, &room, f));
  SHOW(feof(f) != 0);
  SHOW(fseek(f, -3, SEEK_END));
  SHOW(fgetc(f));
  SHOW(ungetc('U', f));
  SHOW(fgetc(f));
  SHOW(fflush(f));
  SHOW(ftruncate(fileno(f), 4));
  SHOW(fclose(f));
  show_file("stream");
  SHOW(fopen("stream", "wx") != NULL);
  SHOW(fopen("stream", "odd") != NULL);
  SHOW(fopen("none/none", "r") != NULL);
  f = fopen("stream", "a+");
  SHOW(fputs("appended", f));
  rewind(f);
  SHOW(fread(buffer, 1, 100, f));
  SHOW(fclose(f));
  f = fdopen(open("stream", O_RDONLY), "r");
  setvbuf(f, NULL, _IONBF, 0);
  SHOW(fgetc(f));
  SHOW(fputc('x', f));
  SHOW(ferror(f) != 0);
  f = freopen("other", "w", f);
  SHOW(fputs("reopened", f));
  SHOW(fclose(f));
  show_file("other");
  SHOW(fdopen(open("other", O_RDONLY), "w") != NULL);
  static char big[300000];
  memset(big, 'b', sizeof big);
  f = fopen("big", "w");
  SHOW(fwrite(big, 1000, 300, f));
  SHOW(fclose(f));
  f = fopen("big", "r");
  SHOW(fread(big, 1, sizeof big, f));
  SHOW(fgetc(f));
  SHOW(fclose(f));
  f = fopen("wide", "w+");
  SHOW(fwide(f, 1) > 0);
  SHOW(fputws(L"gr\u00fc\u00df dich\n", f));
  SHOW(fwprintf(f, L"%d %ls\n", 7, L"\u2192"));
  SHOW(fputwc(L'\u00e9', f));
  rewind(f);
  wchar_t wide[64];
  SHOW(fgetws(wide, 64, f) != NULL);
  SHOW(wcslen(wide));
  SHOW(fgetwc(f));
  SHOW(ungetwc(L'x', f));
  SHOW(fgetwc(f));
  SHOW(fclose(f));
  show_file("wide");
}

static void standard(void) {
  fflush(stdout);
  int saved = dup(1), fd = open("standard", O_RDWR | O_CREAT | O_TRUNC, 0644);
  printf("before ");
  dup2(fd, 1);
  printf("printf\n");
  fflush(stdout);
  puts("puts");
  putchar('c');
  fflush(stdout);
  system("echo from a shell");
  dup2(saved, 1);
  close(fd), close(saved);
  printf("back\n");
  show_file("standard");
  fflush(stdout);
  saved = dup(1);
  SHOW(freopen("standard", "a", stdout) != NULL);
  printf("reopened\n");
  fflush(stdout);
  dup2(saved, 1);
  show_file("standard");
  int in = dup(0);
  SHOW(freopen("standard", "r", stdin) != NULL);
  char word[32] = "";
  SHOW(scanf("%31s", word));
  printf("%s\n", word);
  dup2(in, 0);
}

static void processes(void) {
  int fd = make("shared", "");
  fflush(stdout);
  if (fork() == 0) _exit(write(fd, "child ", 6) != 6);
  wait(NULL);
  SHOW(write(fd, "parent ", 7));
  if (vfork() == 0) {
    execl("/bin/sh", "sh", "-c", "echo exec >&$0", (char[]){(char)('0' + fd), '\0'}, (char*)NULL);
    _exit(1);
  }
  wait(NULL);
  pid_t pid;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fd, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "spawned", O_CREAT | O_WRONLY, 0644);
  char* arguments[] = {
      "sh", "-c", "echo spawn; echo error >&2; cat missing-file 2>/dev/null || pwd | wc -l", NULL};
  SHOW(posix_spawnp(&pid, "sh", &actions, NULL, arguments, environ));
  int status;
  waitpid(pid, &status, 0);
  SHOW(status);
  show_file("shared");
  show_file("spawned");
  SHOW(posix_spawn(&pid, "./missing", NULL, NULL, arguments, environ));
  SHOW(system("test -f shared"));
  FILE* pipe = popen("cat shared | wc -l", "r");
  int lines = 0;
  SHOW(fscanf(pipe, "%d", &lines));
  SHOW(pclose(pipe));
  SHOW(lines);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  snprintf(buffer, sizeof buffer, "exec 2>/dev/null; echo x >&%d", fd);
  SHOW(system(buffer) != 0);
  SHOW(execl("./shared", "shared", (char*)NULL));
  SHOW(execl("./missing", "missing", (char*)NULL));
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  fflush(stdout);
  if (fork() == 0) {
    int sent = open("sent", O_RDWR | O_CREAT, 0644);
    union {
      struct cmsghdr header;
      char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec byte = {"x", 1};
    struct msghdr message = {.msg_iov = &byte,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &sent, sizeof sent);
    sendmsg(pair[0], &message, 0);
    read(pair[0], buffer, 1); /* until it has been taken */
    _exit(0);
  }
  char control[CMSG_SPACE(sizeof(int))];
  struct iovec byte = {buffer, 1};
  struct msghdr message = {
      .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  SHOW(recvmsg(pair[1], &message, 0));
  int received;
  memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
  SHOW(write(received, "through a socket", 16));
  write(pair[1], "x", 1);
  wait(NULL);
  show_file("sent");
}

int main(int count, char** arguments) {
  setlocale(LC_ALL, "");
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  struct {
    const char* name;
    void (*run)(void);
  } parts[] = {{"data", data},         {"opening", opening},       {"duplicates", duplicates},
               {"names", names},       {"attributes", attributes}, {"directories", directories},
               {"mappings", mappings}, {"locking", locking},       {"waiting", waiting},
               {"streams", streams},   {"standard", standard},     {"processes", processes}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (count > 1 && strcmp(arguments[1], parts[i].name) != 0) continue;
    printf("== %s\n", parts[i].name);
    mkdir(parts[i].name, 0755);
    if (chdir(parts[i].name) != 0) return 1;
    fflush(stdout);
    parts[i].run();
    if (chdir("..") != 0) return 1;
  }
  return 0;
}
