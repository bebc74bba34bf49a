/* Calls by their numbers: syscall() meets the same files as the C library's functions do. See
 * show.h. */
#include <sys/syscall.h>

#include "show.h"

static void numbers(void) {
  struct stat st;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, "one", O_RDWR | O_CREAT, 0644);
  SHOW(fd >= 0);
  SHOW(syscall(SYS_write, fd, "some text", 9));
  SHOW(syscall(SYS_pread64, fd, buffer, 4, 5));
  SHOW(syscall(SYS_lseek, fd, 0, SEEK_END));
  struct iovec two[2] = {{"a", 1}, {"bc", 2}};
  SHOW(syscall(SYS_writev, fd, two, 2));
  SHOW(syscall(SYS_pwritev2, fd, two, 2, 1, 0, 0));
  SHOW(syscall(SYS_fsync, fd));
  SHOW(syscall(SYS_newfstatat, AT_FDCWD, "one", &st, 0));
  printf("size %ld\n", (long)st.st_size);
  SHOW(syscall(SYS_ftruncate, fd, 5));
  show_file("one");
  SHOW(syscall(SYS_fcntl, fd, F_GETFD, 0));
  SHOW(syscall(SYS_fadvise64, fd, 0, 0, 99));
  SHOW(syscall(SYS_mkdirat, AT_FDCWD, "d", 0755));
  SHOW(syscall(SYS_renameat2, AT_FDCWD, "one", AT_FDCWD, "d/two", RENAME_NOREPLACE));
  SHOW(syscall(SYS_linkat, AT_FDCWD, "d/two", AT_FDCWD, "three", 0));
  SHOW(syscall(SYS_symlinkat, "three", AT_FDCWD, "link"));
  SHOW(syscall(SYS_readlinkat, AT_FDCWD, "link", buffer, 100));
  SHOW(syscall(SYS_faccessat, AT_FDCWD, "missing", R_OK));
  SHOW(syscall(SYS_statx, AT_FDCWD, "link", 0, STATX_ALL, buffer));
  SHOW(syscall(SYS_fchmodat, AT_FDCWD, "three", 0600));
  SHOW(syscall(SYS_unlinkat, AT_FDCWD, "three", 0));
  SHOW(syscall(SYS_dup3, fd, 50, O_CLOEXEC));
  SHOW(syscall(SYS_read, 50, buffer, 3));
  SHOW(syscall(SYS_close, 50));
  SHOW(syscall(SYS_read, 50, buffer, 3));
  SHOW(syscall(SYS_close_range, fd, fd, 0));
  SHOW(fstat(fd, &st));
  SHOW(syscall(SYS_chdir, "d"));
  SHOW(syscall(SYS_getcwd, buffer, sizeof buffer) > 0);
  printf("in %s\n", strrchr(buffer, '/') + 1);
  SHOW(syscall(SYS_chdir, ".."));
  SHOW(syscall(SYS_getpid) == getpid());
}

/* Known by its number, whatever the headers know. A kernel that lacks it says so on any file. */
static void modes(void) {
  const long fchmodat2 = 452;
  if (syscall(fchmodat2, -1, "", 0, 0) < 0 && errno == ENOSYS) return;
  struct stat st;
  int fd = make("file", "text"), path = open("file", O_PATH);
  symlink("file", "link");
  int link = open("link", O_PATH | O_NOFOLLOW);
  SHOW(syscall(fchmodat2, AT_FDCWD, "file", 0600, 0));
  SHOW(syscall(fchmodat2, AT_FDCWD, "link", 0640, 0));
  SHOW(stat("file", &st));
  printf("%o\n", (int)st.st_mode);
  SHOW(syscall(fchmodat2, AT_FDCWD, "file", 0611, AT_SYMLINK_NOFOLLOW));
  SHOW(syscall(fchmodat2, AT_FDCWD, "link", 0622, AT_SYMLINK_NOFOLLOW));
  SHOW(syscall(fchmodat2, AT_FDCWD, "file", 0633, 0x40000000));
  SHOW(syscall(fchmodat2, fd, "", 0644, 0));
  SHOW(syscall(fchmodat2, path, "", 0655, AT_EMPTY_PATH));
  SHOW(syscall(fchmodat2, link, "", 0666, AT_EMPTY_PATH));
  SHOW(stat("file", &st));
  printf("%o\n", (int)st.st_mode);
  close(fd), close(path), close(link);
}

/* Both layouts of directory entries hold the same names. */
static void entries(void) {
  for (int i = 0; i < 20; ++i) {
    snprintf(buffer, 100, "name-%0*d", i, i);
    close(make(buffer, ""));
  }
  int fd = open(".", O_RDONLY);
  long names = 0, got, letters = 0;
  while ((got = syscall(SYS_getdents64, fd, buffer, 300)) > 0) {
    for (long at = 0; at < got; ++names) {
      struct dirent64* entry = (struct dirent64*)(buffer + at);
      letters += (long)strlen(entry->d_name);
      at += entry->d_reclen;
    }
  }
  printf("%ld names, %ld letters\n", names, letters);
#ifdef SYS_getdents
  lseek(fd, 0, SEEK_SET);
  names = letters = 0;
  long directories = 0;
  while ((got = syscall(SYS_getdents, fd, buffer, 300)) > 0) {
    for (long at = 0; at < got; ++names) {
      unsigned short length;
      memcpy(&length, buffer + at + 16, sizeof length);
      letters += (long)strlen(buffer + at + 18);
      directories += buffer[at + length - 1] == DT_DIR;
      at += length;
    }
  }
  printf("%ld names, %ld letters, %ld directories\n", names, letters, directories);
#endif
  close(fd);
}

PARTS({"modes", modes}, {"numbers", numbers}, {"entries", entries})
