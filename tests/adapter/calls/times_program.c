/* Which of the three times of a file, of its directory and of another file each call moves. See
 * show.h. */
#include <sys/syscall.h>
#include <sys/time.h>

#include "show.h"

/* What is looked at, after a call: the file, the directory that it is in, another file, its
 * directory. */
static const char* watched[] = {"d", "d/f", "d/sub", "e", "e/g", "d/l", "."};
enum { kWatched = sizeof watched / sizeof *watched };
static struct stat before[kWatched];

static int discard(const char* path, const struct stat* st, int type, struct FTW* where) {
  (void)st, (void)type, (void)where;
  return strcmp(path, ".") == 0 ? 0 : remove(path);
}

/* The same files, with times long gone by. */
static void anew(void) {
  nftw(".", discard, 8, FTW_DEPTH | FTW_PHYS);
  mkdir("d", 0755), mkdir("d/sub", 0755), mkdir("e", 0755);
  close(make("d/f", "contents")), close(make("e/g", "others"));
  symlink("f", "d/l");
  setxattr("d/f", "user.old", "1", 1, 0);
  struct timespec old[2] = {{1000, 0}, {2000, 0}};
  for (int i = 0; i < kWatched; ++i) utimensat(AT_FDCWD, watched[i], old, AT_SYMLINK_NOFOLLOW);
}

static void look(struct stat* states) {
  for (int i = 0; i < kWatched; ++i) {
    memset(&states[i], 0, sizeof *states);
    lstat(watched[i], &states[i]);
  }
}

static int moved(struct timespec a, struct timespec b) {
  return a.tv_sec != b.tv_sec || a.tv_nsec != b.tv_nsec;
}

static void tell(const char* call, long value, int error) {
  struct stat after[kWatched];
  look(after);
  printf("%s = %s:", call, value < 0 ? strerrorname_np(error) : "done");
  for (int i = 0; i < kWatched; ++i) {
    const struct stat *old = &before[i], *now = &after[i];
    int a = moved(old->st_atim, now->st_atim), m = moved(old->st_mtim, now->st_mtim);
    int c = moved(old->st_ctim, now->st_ctim);
    if (old->st_ino == 0 || now->st_ino == 0) {
      if (old->st_ino != now->st_ino)
        printf(" %s %s", watched[i], now->st_ino == 0 ? "gone" : "new");
    } else if (a || m || c) {
      /* Reading moves it at once, at close or never: the file system's choice (relatime, noatime).
       */
      if (!c) a = 0;
      if (a || m || c) printf(" %s %s%s%s", watched[i], a ? "a" : "", m ? "m" : "", c ? "c" : "");
      if ((a && moved(now->st_atim, now->st_ctim)) || (m && moved(now->st_mtim, now->st_ctim)))
        printf(" at different moments");
    }
  }
  printf("\n");
}

/* The kernel's clock for files ticks every few milliseconds. */
#define TIMES(prepare, call)   \
  do {                         \
    anew();                    \
    prepare;                   \
    look(before);              \
    usleep(12000);             \
    errno = 0;                 \
    long value = (long)(call); \
    tell(#call, value, errno); \
  } while (0)
#define PATH(call) TIMES((void)0, call)
#define FD(flags, call)                   \
  do {                                    \
    int fd;                               \
    TIMES(fd = open("d/f", flags), call); \
    close(fd);                            \
  } while (0)

static long and_close(int fd) { return fd < 0 ? fd : close(fd); }
static long and_end(FILE* stream) { return stream == NULL ? -1 : fclose(stream); }

static long list(const char* path) {
  DIR* stream = opendir(path);
  if (stream == NULL) return -1;
  while (readdir(stream) != NULL) continue;
  return closedir(stream);
}

static long copy(int fd, int by_sendfile) {
  int other = open("e/g", O_RDWR);
  ssize_t moved =
      by_sendfile ? sendfile(other, fd, NULL, 3) : copy_file_range(fd, NULL, other, NULL, 3, 0);
  return moved < 0 ? moved : close(other);
}

static void files(void) {
  FD(O_RDWR, read(fd, buffer, 3));
  FD(O_RDWR, read(fd, buffer, 0));
  FD(O_RDWR, pread(fd, buffer, 3, 100));
  FD(O_RDWR, write(fd, "x", 1));
  FD(O_RDWR, write(fd, "x", 0));
  FD(O_RDWR, pwrite(fd, "x", 1, 100));
  FD(O_WRONLY, read(fd, buffer, 3));
  FD(O_RDONLY, write(fd, "x", 1));
  FD(O_RDWR, ftruncate(fd, 3));
  FD(O_RDWR, ftruncate(fd, 8));
  FD(O_RDWR, ftruncate(fd, 20));
  FD(O_RDWR, ftruncate(fd, -1));
  FD(O_RDWR, fallocate(fd, 0, 0, 100));
  FD(O_RDWR, fallocate(fd, 0, 0, 3));
  FD(O_RDWR, fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 10000));
  FD(O_RDWR, fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 3));
  FD(O_RDWR, posix_fallocate(fd, 0, 100));
  FD(O_RDWR, fsync(fd));
  FD(O_RDWR, lseek(fd, 2, SEEK_SET));
  FD(O_RDWR, fchmod(fd, 0600));
  FD(O_RDWR, fchown(fd, getuid(), getgid()));
  FD(O_RDWR, fchown(fd, -1, -1));
  FD(O_RDWR, fsetxattr(fd, "user.a", "1", 1, 0));
  FD(O_RDWR, fgetxattr(fd, "user.old", buffer, 1));
  FD(O_RDWR, flistxattr(fd, buffer, 100));
  FD(O_RDWR, fremovexattr(fd, "user.old"));
  FD(O_RDWR, fremovexattr(fd, "user.none"));
  FD(O_RDWR, futimens(fd, NULL));
  FD(O_RDWR, flock(fd, LOCK_EX));
  FD(O_RDWR, close(dup(fd)));
  FD(O_RDWR, copy(fd, 0));
  FD(O_RDWR, copy(fd, 1));
}

static void names(void) {
  struct timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}}, some[2] = {{5, 5}, {0, UTIME_OMIT}};
  struct timespec none[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
  struct stat st;
  PATH(stat("d/f", &st));
  PATH(access("d/f", R_OK));
  PATH(and_close(open("d/f", O_RDWR)));
  PATH(and_close(open("d/f", O_RDWR | O_CREAT, 0644)));
  PATH(and_close(open("d/f", O_RDWR | O_TRUNC)));
  PATH(and_close(open("d/n", O_RDWR | O_CREAT, 0644)));
  PATH(and_close(open("d/f", O_RDWR | O_CREAT | O_EXCL, 0644)));
  PATH(and_close(open("d", O_RDWR | O_TMPFILE, 0644)));
  PATH(and_end(fopen("d/f", "w")));
  PATH(truncate("d/f", 3));
  PATH(truncate("d/f", 8));
  PATH(mkdir("d/n", 0755));
  PATH(mkdir("d/sub", 0755));
  PATH(mknod("d/n", S_IFREG | 0644, 0));
  PATH(mkfifo("d/n", 0644));
  PATH(symlink("target", "d/n"));
  PATH(readlink("d/l", buffer, 10));
  PATH(unlink("d/f"));
  PATH(unlink("d/l"));
  PATH(rmdir("d/sub"));
  PATH(rmdir("d"));
  PATH(link("d/f", "d/n"));
  PATH(link("d/f", "e/n"));
  PATH(link("d/f", "e/g"));
  TIMES(link("d/f", "e/n"), unlink("e/n"));
  TIMES(link("d/f", "e/n"), rename("e/n", "d/f"));
  TIMES(link("d/f", "d/n"), rename("d/n", "d/f"));
  PATH(rename("d/f", "d/n"));
  PATH(rename("d/f", "e/n"));
  PATH(rename("d/f", "e/g"));
  PATH(rename("d/f", "d/f"));
  PATH(rename("d/sub", "d/n"));
  PATH(rename("d/sub", "e/n"));
  TIMES(mkdir("e/n", 0755), rename("d/sub", "e/n"));
  PATH(renameat2(AT_FDCWD, "d/f", AT_FDCWD, "e/g", RENAME_EXCHANGE));
  PATH(renameat2(AT_FDCWD, "d/sub", AT_FDCWD, "e/g", RENAME_EXCHANGE));
  PATH(renameat2(AT_FDCWD, "d/f", AT_FDCWD, "d/sub", RENAME_EXCHANGE));
  PATH(renameat2(AT_FDCWD, "d/f", AT_FDCWD, "e/g", RENAME_NOREPLACE));
  PATH(chmod("d/f", 0600));
  PATH(chmod("d", 0700));
  PATH(chown("d/f", getuid(), getgid()));
  PATH(chown("d/f", -1, -1));
  PATH(lchown("d/l", getuid(), getgid()));
  PATH(utimensat(AT_FDCWD, "d/f", now, 0));
  PATH(utimensat(AT_FDCWD, "d/f", some, 0));
  PATH(utimensat(AT_FDCWD, "d/f", none, 0));
  PATH(utimensat(AT_FDCWD, "d/l", some, AT_SYMLINK_NOFOLLOW));
  PATH(setxattr("d/f", "user.a", "1", 1, 0));
  PATH(setxattr("d", "user.a", "1", 1, 0));
  PATH(removexattr("d/f", "user.old"));
  PATH(getxattr("d/f", "user.old", buffer, 1));
  PATH(list("d"));
  PATH(list("d/sub"));
  PATH(chdir("."));
}

/* Times before 1970, and such as other file systems keep for themselves. */
static void old(void) {
  const struct timespec times[] = {{-1, 999999999}, {-1, 999999998}, {-1, 0}, {-100, 5}, {0, 0}};
  struct stat st;
  int fd = make("old", "text");
  for (unsigned i = 0; i < sizeof times / sizeof *times; ++i) {
    struct timespec both[2] = {times[i], times[i]};
    SHOW(futimens(fd, both));
    fstat(fd, &st);
    printf("%ld.%ld %ld.%ld\n", (long)st.st_atim.tv_sec, (long)st.st_atim.tv_nsec,
           (long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
    usleep(20000); /* times are kept to a tick of the clock */
    SHOW(pwrite(fd, "x", 1, 0));
    fstat(fd, &st);
    printf("now %d\n", st.st_mtim.tv_sec > 1000000000);
    close(fd);
    stat("old", &st);
    printf("now %d\n", st.st_mtim.tv_sec > 1000000000);
    fd = open("old", O_RDWR);
  }
  struct timespec some[2] = {{5, 5}, {6, 6}}, none[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
  const int flags[] = {0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 0x40000000};
  for (int i = 0; i < 4; ++i) {
    SHOW(syscall(SYS_utimensat, fd, NULL, some, flags[i]));
    SHOW(syscall(SYS_utimensat, fd, NULL, NULL, flags[i]));
    SHOW(syscall(SYS_utimensat, fd, NULL, none, flags[i]));
  }
  SHOW(futimes(fd, NULL));
  close(fd);
}

PARTS({"old", old}, {"files", files}, {"names", names})
