/* Opening, reading, writing, duplicating. One paragraph per trap; see show.h. */
#include "show.h"

static void data(void) {
  int fd = make("data", "0123456789");
  struct iovec two[2] = {{"ab", 2}, {"cde", 3}};
  struct iovec in[2] = {{buffer, 3}, {buffer + 3, 100}};
  SHOW(pwritev(fd, two, 2, 3));
  SHOW(preadv(fd, in, 2, 0));
  SHOW(pwritev2(fd, two, 2, -1, 0));
  SHOW(preadv2(fd, in, 2, 1, 0));
  volatile int none = -1; /* not seen by the compiler */
  void* volatile nowhere = NULL;
  SHOW(preadv(fd, in, none, 0));
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
  SHOW(pwrite(fd, nowhere, 5, 1 << 20));
  SHOW(pwrite(fd, nowhere, 0, 1 << 20));
  SHOW(pread(fd, nowhere, 5, 1 << 20));
  struct iovec half[2] = {{"ab", 2}, {nowhere, 3}};
  SHOW(pwritev(fd, half, 2, 1 << 20));
  SHOW(pwritev(fd, half + 1, 1, 1 << 21));
  SHOW(ftruncate(fd, 100));
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
  SHOW(write(fd, nowhere, 3));
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

/* What is refused takes nothing from the pipe. */
static void splices(void) {
  int ends[2];
  if (pipe(ends) != 0) return;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  int file = make("file", "0123456789"), ro = open("file", O_RDONLY), wo = open("file", O_WRONLY);
  int append = open("file", O_WRONLY | O_APPEND), path = open("file", O_PATH),
      dir = open(".", O_RDONLY);
  off_t at = 2, bad = -1;
  SHOW(write(ends[1], "abcdef", 6));
  SHOW(splice(ends[0], NULL, ro, NULL, 3, 0));
  SHOW(splice(ends[0], NULL, path, NULL, 3, 0));
  SHOW(splice(ends[0], NULL, dir, NULL, 3, 0));
  SHOW(splice(ends[0], NULL, append, NULL, 3, 0));
  SHOW(splice(ends[0], &at, file, NULL, 3, 0));
  SHOW(splice(ends[0], NULL, file, &bad, 3, 0));
  SHOW(splice(ends[0], NULL, file, NULL, 3, 16));
  SHOW(splice(ends[0], NULL, ro, NULL, 0, 16));
  SHOW(splice(ends[1], NULL, file, NULL, 3, 0));
  SHOW(splice(file, NULL, ends[0], NULL, 3, 0));
  SHOW(splice(wo, NULL, ends[1], NULL, 3, 0));
  SHOW(splice(dir, NULL, ends[1], NULL, 3, 0));
  SHOW(splice(file, NULL, file, NULL, 3, 0));
  SHOW(splice(file, NULL, -1, NULL, 3, 0));
  SHOW(splice(-1, NULL, file, NULL, 3, 0));
  SHOW(sendfile(file, ends[0], NULL, 3));
  SHOW(sendfile(file, ends[0], &at, 3));
  SHOW(sendfile(ro, ends[0], NULL, 3));
  SHOW(sendfile(append, ro, NULL, 3));
  SHOW(sendfile(file, dir, NULL, 3));
  SHOW(read(ends[0], buffer, 100));
  show_file("file");
  SHOW(write(ends[1], "abcdef", 6));
  SHOW(splice(ends[0], NULL, file, &at, 3, SPLICE_F_MOVE | SPLICE_F_MORE));
  SHOW(splice(ends[0], NULL, file, NULL, 3, SPLICE_F_NONBLOCK));
  SHOW(splice(ends[0], NULL, file, NULL, 3, SPLICE_F_NONBLOCK));
  SHOW(splice(ro, &at, ends[1], NULL, 3, 0));
  SHOW(read(ends[0], buffer, 100));
  show_file("file");
  close(ends[0]), close(ends[1]), close(file), close(ro), close(wo), close(append), close(path),
      close(dir);
}

PARTS({"splices", splices}, {"data", data}, {"opening", opening}, {"duplicates", duplicates})
