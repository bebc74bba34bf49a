/* Every call on a path, on every kind of path, and pairs of them: which error comes first is the
 * kernel's choice, and programs rely on it. One line for each, so that a plain directory's can be
 * compared. */
#include <limits.h>
#include <sys/syscall.h>

#include "show.h"

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#define LONG_LENGTH 255

static char name255[LONG_LENGTH + 1], name256[LONG_LENGTH + 2];
static char below256[LONG_LENGTH + 8], dots[PATH_MAX + 64], long_below_file[LONG_LENGTH + 16];

static const char* paths[] = {
    "",         ".",        "..",           "./",         "file",      "file/",
    "file/.",   "file/..",  "file/x",       "dir",        "dir/",      "dir/.",
    "dir/..",   "dir/new",  "dir/new/",     "full",       "full/",     "full/in",
    "empty",    "empty/",   "missing",      "missing/",   "missing/x", "missing/..",
    "loop",     "loop/",    "loop/x",       "dangling",   "dangling/", "dangling/x",
    "to-file",  "to-file/", "to-dir",       "to-dir/",    "to-dir/.",  "to-dir/in",
    "fifo",     "fifo/",    "fifo/x",       "dangling2/", "hard",      "dangling2",
    "to-file2", "to-dir2",  "loop2",        "to-below2",  name255,     name256,
    below256,   dots,       long_below_file};
enum { kPaths = sizeof paths / sizeof *paths };

static void fill(char* text, size_t length) {
  memset(text, 'n', length);
  text[length] = '\0';
}

static int discard(const char* path, const struct stat* st, int type, struct FTW* where) {
  (void)st, (void)type, (void)where;
  return remove(path);
}

/* Anew, whatever the calls have done to it. */
static void build(void) {
  static int reader = -1;
  if (reader >= 0) close(reader);
  nftw("scene", discard, 8, FTW_DEPTH | FTW_PHYS);
  if (mkdir("scene", 0755) != 0 || chdir("scene") != 0) exit(1);
  close(make("file", "text"));
  mkdir("dir", 0755), mkdir("full", 0755), mkdir("empty", 0755);
  close(make("full/in", "in"));
  symlink("loop", "loop"), symlink("nowhere", "dangling"), symlink("nowhere/", "dangling2");
  symlink("file/", "to-file2"), symlink("full/", "to-dir2"), symlink("loop2/", "loop2");
  symlink("file", "to-file"), symlink("full", "to-dir");
  symlink("file/below", "to-below"), symlink("to-below/", "to-below2");
  link("file", "hard");
  mkfifo("fifo", 0644);
  reader = open("fifo", O_RDWR); /* who opens it need not wait */
}

static const char* shown(const char* path) {
  static char text[2][32];
  static int turn;
  turn = !turn;
  snprintf(text[turn], sizeof *text, "%.12s%s", path, strlen(path) > 12 ? "..." : "");
  return text[turn];
}

/* Prints what a call gave. Whether the scene has changed. */
static int told(const char* call, const char* first, const char* second, long value) {
  printf("%s %s %s = %ld %s\n", call, shown(first), second == NULL ? "" : shown(second),
         value < 0 ? -1 : value, value < 0 ? strerrorname_np(errno) : "");
  return value >= 0;
}

static void anew(void) {
  if (chdir("..") != 0) exit(1);
  build();
}

static int opened(int fd) {
  if (fd >= 0) close(fd);
  return fd < 0 ? -1 : 0;
}
static int streamed(DIR* stream) {
  if (stream != NULL) closedir(stream);
  return stream == NULL ? -1 : 0;
}
static int file(FILE* stream) {
  if (stream != NULL) fclose(stream);
  return stream == NULL ? -1 : 0;
}
static int resolved(char* path) {
  free(path);
  return path == NULL ? -1 : 0;
}

#define LOOK(call) told(#call, path, NULL, ((void)(errno = 0), (long)(call)))
#define CHANGE(call)             \
  do {                           \
    if (LOOK(call) != 0) anew(); \
  } while (0)

static void look_at(const char* path) {
  struct stat st;
  struct statvfs space;
  static struct statx more;
  LOOK(stat(path, &st));
  LOOK(lstat(path, &st));
  LOOK(fstatat(AT_FDCWD, path, &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
  LOOK(fstatat(AT_FDCWD, path, &st, 0x40000000));
  LOOK(statx(AT_FDCWD, path, 0, STATX_ALL, &more));
  LOOK(statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0x80000000U, &more));
  LOOK(access(path, F_OK));
  LOOK(access(path, X_OK));
  LOOK(access(path, 8));
  LOOK(faccessat(AT_FDCWD, path, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW));
  LOOK(faccessat(AT_FDCWD, path, W_OK, 0x40000000));
  LOOK(readlink(path, buffer, 100));
  LOOK(readlink(path, buffer, 0));
  if (strlen(path) < PATH_MAX)
    LOOK(resolved(realpath(path, NULL))); /* the C library takes longer ones */
  LOOK(statvfs(path, &space));
  LOOK(pathconf(path, _PC_NAME_MAX));
  LOOK(streamed(opendir(path)));
  LOOK(file(fopen(path, "r")));
  LOOK(getxattr(path, "user.none", buffer, 10));
  LOOK(lgetxattr(path, "user.none", buffer, 10));
  LOOK(getxattr(path, "nothing", buffer, 10));
  LOOK(listxattr(path, buffer, 0));
  LOOK(llistxattr(path, buffer, 0));
  LOOK(execve(path, (char*[]){"x", NULL}, environ));
}

static void change(const char* path) {
  char longest[PATH_MAX], longer[PATH_MAX + 1];
  snprintf(longest, sizeof longest, "%0*d", PATH_MAX - 1, 0);
  snprintf(longer, sizeof longer, "%0*d", PATH_MAX, 0);
  struct timespec times[2] = {{1, 1}, {2, 2}}, bad[2] = {{1, 1000000000}, {0, 0}};
  struct timespec omitted[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
  CHANGE(mkdir(path, 0755));
  CHANGE(rmdir(path));
  CHANGE(unlink(path));
  CHANGE(unlinkat(AT_FDCWD, path, AT_REMOVEDIR));
  CHANGE(unlinkat(AT_FDCWD, path, 1));
  CHANGE(remove(path));
  CHANGE(mknod(path, S_IFREG | 0644, 0));
  CHANGE(mknod(path, S_IFDIR | 0755, 0));
  CHANGE(mknod(path, 0170000 | 0644, 0));
  CHANGE(mkfifo(path, 0644));
  CHANGE(symlink("target", path));
  CHANGE(symlink("", path));
  CHANGE(symlink(longest, path));
  CHANGE(symlink(longer, path));
  CHANGE(truncate(path, 3));
  CHANGE(truncate(path, -1));
  CHANGE(chmod(path, 0600));
  CHANGE(fchmodat(AT_FDCWD, path, 0600, AT_SYMLINK_NOFOLLOW));
  CHANGE(fchmodat(AT_FDCWD, path, 0600, 0x40000000));
  CHANGE(chown(path, 0, 0));
  CHANGE(lchown(path, 0, 0));
  CHANGE(fchownat(AT_FDCWD, path, 0, 0, 0x40000000));
  CHANGE(utimensat(AT_FDCWD, path, times, 0));
  CHANGE(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW));
  CHANGE(utimensat(AT_FDCWD, path, bad, 0));
  CHANGE(utimensat(AT_FDCWD, path, omitted, 0));
  CHANGE(utimensat(AT_FDCWD, path, NULL, 0x40000000));
  CHANGE(setxattr(path, "user.a", "1", 1, 0));
  CHANGE(setxattr(path, "user.a", "1", 1, XATTR_REPLACE));
  CHANGE(setxattr(path, "user.a", "1", 1, 8));
  CHANGE(lsetxattr(path, "user.a", "1", 1, 0));
  CHANGE(setxattr(path, "unknown.a", "1", 1, 0));
  CHANGE(removexattr(path, "user.none"));
  CHANGE(file(fopen(path, "w")));
  CHANGE(file(fopen(path, "wx")));
  CHANGE(file(fopen(path, "a+")));
  CHANGE(file(fopen(path, "r+")));
  CHANGE(file(fopen(path, "z")));
}

static void single(void) {
  build();
  for (int i = 0; i < kPaths; ++i) {
    look_at(paths[i]);
    change(paths[i]);
  }
  if (chdir("..") != 0) exit(1);
}

static int reading_end(void) {
  int ends[2];
  return pipe(ends) == 0 ? ends[0] : -1;
}

/* chdir moves, so it comes back. */
static void moving(void) {
  build();
  int home = open(".", O_RDONLY);
  for (int i = 0; i < kPaths; ++i) {
    const char* path = paths[i];
    LOOK(chdir(path));
    if (fchdir(home) != 0) exit(1);
    int fd = open(path, O_PATH | O_NOFOLLOW);
    LOOK(fchdir(fd));
    if (fd >= 0) close(fd);
    if (fchdir(home) != 0) exit(1);
  }
  close(home);
  if (chdir("..") != 0) exit(1);
}

#define PAIR(call)                                        \
  do {                                                    \
    errno = 0;                                            \
    if (told(#call, from, to, (long)(call)) != 0) anew(); \
  } while (0)

/* A rename that would leave a whiteout is refused on covered files, and on others for this test. */
static int rename_whiteout(const char* from, const char* to, unsigned flags) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, flags | RENAME_WHITEOUT) != 0) return -1;
  struct stat st;
  if (lstat(from, &st) == 0 && !S_ISCHR(st.st_mode)) return 0; /* two names of one file */
  anew();
  errno = EINVAL;
  return -1;
}

static void pairs(void) {
  build();
  for (int i = 0; i < kPaths; ++i) {
    for (int j = 0; j < kPaths; ++j) {
      const char *from = paths[i], *to = paths[j];
      PAIR(rename(from, to));
      PAIR(renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE));
      PAIR(renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE));
      PAIR(rename_whiteout(from, to, 0));
      PAIR(rename_whiteout(from, to, RENAME_NOREPLACE));
      PAIR(link(from, to));
      PAIR(linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW));
    }
    const char *from = paths[i], *to = "dir/new";
    PAIR(renameat2(AT_FDCWD, from, AT_FDCWD, to, 8));
    PAIR(renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE | RENAME_EXCHANGE));
    PAIR(rename_whiteout(from, to, RENAME_EXCHANGE));
    PAIR(linkat(AT_FDCWD, from, AT_FDCWD, to, 0x40000000));
    PAIR(linkat(AT_FDCWD, from, AT_FDCWD, to, AT_EMPTY_PATH));
  }
  if (chdir("..") != 0) exit(1);
}

/* Every combination of flags that says something about the name. */
static void flags(void) {
  const int bits[] = {O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY, O_NOFOLLOW, O_PATH};
  build();
  for (int i = 0; i < kPaths; ++i) {
    const char* path = paths[i];
    for (int mode = 0; mode <= 3; ++mode) {
      for (int set = 0; set < 1 << 6; ++set) {
        int all = mode | O_NONBLOCK;
        for (int bit = 0; bit < 6; ++bit) all |= (set >> bit & 1) != 0 ? bits[bit] : 0;
        errno = 0;
        int fd = open(path, all, 0644);
        printf("open %s mode %d set %02x = %d %s\n", shown(path), mode, set, fd < 0 ? -1 : 0,
               fd < 0 ? strerrorname_np(errno) : "");
        if (fd < 0) continue;
        close(fd);
        if ((all & (O_CREAT | O_TRUNC)) != 0) anew();
      }
      CHANGE(opened(open(path, mode | O_TMPFILE, 0644)));
      CHANGE(opened(open(path, mode | O_APPEND | O_SYNC | O_DIRECT | O_NOATIME | O_NONBLOCK)));
    }
  }
  if (chdir("..") != 0) exit(1);
}

static void prepare(void) {
  fill(name255, LONG_LENGTH), fill(name256, LONG_LENGTH + 1);
  snprintf(below256, sizeof below256, "%s/x", name256);
  snprintf(long_below_file, sizeof long_below_file, "file/%s", name256);
  while (strlen(dots) < PATH_MAX) strcat(dots, "./");
}
__attribute__((constructor)) static void before_main(void) { prepare(); }

/* Absolute paths of about PATH_MAX bytes: all of it counts, not what lies below a cover. */
static void lengths(void) {
  static char here[PATH_MAX], path[PATH_MAX + 64];
  struct stat st;
  close(make("file", "text"));
  if (getcwd(here, sizeof here) == NULL) exit(1);
  for (size_t length = PATH_MAX - 2; length <= PATH_MAX + 2; ++length) {
    snprintf(path, sizeof path, "%s", here);
    size_t at = strlen(path);
    while (at < length - 5) path[at++] = '/';
    memcpy(path + at, "/file", 6);
    printf("%zu\n", length);
    SHOW(stat(path, &st));
    SHOW(opened(open(path, O_RDONLY)));
    SHOW(access(path, R_OK));
    SHOW(chmod(path, 0600));
    SHOW(truncate(path, 3));
    SHOW(getxattr(path, "user.none", buffer, 10));
    SHOW(link(path, "linked"));
    SHOW(unlink("linked"));
    SHOW(rename(path, path));
    SHOW(mkdir(path, 0755));
  }
}

/* Names from descriptors that are not directories, and names outside the cover. */
static void bases(void) {
  close(make("f", "text")), mkdir("d", 0755), symlink("d", "l"), symlink("/dev", "out");
  const struct {
    const char* name;
    int fd;
  } from[] = {{"file", open("f", O_RDWR)},
              {"path of a file", open("f", O_PATH)},
              {"link", open("l", O_PATH | O_NOFOLLOW)},
              {"directory", open("d", O_RDONLY)},
              {"path of a directory", open("d", O_PATH)},
              {"other file", open("/dev/null", O_RDWR)},
              {"other directory", open("/dev", O_RDONLY)},
              {"path of the other", open("/dev", O_PATH)},
              {"closed", 700},
              {"none", -1},
              {"pipe", reading_end()}};
  const char* names[] = {"x",      "",          "x/y",         ".",        "..",        "../f",
                         "../d/x", "/dev/null", "/dev/none/x", "null",     "/none/x",   "null/x",
                         "/",      "/dev/x/",   "../out/null", "../out/x", "../out/x/y"};
  struct stat st;
  for (size_t i = 0; i < sizeof from / sizeof *from; ++i) {
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
      const char* path = names[k];
      int dir = from[i].fd;
      printf("from %s\n", from[i].name);
      LOOK(linkat(dir, path, AT_FDCWD, "to", 0));
      unlink("to");
      LOOK(linkat(dir, path, AT_FDCWD, "to", AT_SYMLINK_FOLLOW));
      unlink("to");
      LOOK(linkat(dir, path, AT_FDCWD, "f", 0));
      LOOK(linkat(dir, path, AT_FDCWD, "missing/x", 0));
      LOOK(linkat(AT_FDCWD, "missing", dir, path, 0));
      LOOK(linkat(AT_FDCWD, "d", dir, path, 0));
      LOOK(renameat(dir, path, AT_FDCWD, "missing/x"));
      LOOK(renameat(dir, path, AT_FDCWD, "d/."));
      LOOK(renameat(AT_FDCWD, "missing", dir, path));
      LOOK(renameat(AT_FDCWD, "missing/x", dir, path));
      LOOK(renameat(AT_FDCWD, "d/..", dir, path));
      LOOK(renameat2(AT_FDCWD, "missing", dir, path, RENAME_NOREPLACE));
      LOOK(renameat2(dir, path, AT_FDCWD, "missing", RENAME_EXCHANGE));
      LOOK(opened(openat(dir, path, O_RDONLY | O_NONBLOCK)));
      LOOK(fstatat(dir, path, &st, 0));
      LOOK(faccessat(dir, path, F_OK, 0));
      LOOK(readlinkat(dir, path, buffer, 10));
      LOOK(readlinkat(dir, path, buffer, 0));
      LOOK(unlinkat(dir, path, 77));
      LOOK(utimensat(dir, path, (struct timespec[]){{0, UTIME_OMIT}, {0, UTIME_OMIT}}, 0));
      LOOK(fchmodat(dir, path, 0600, 0x40000000));
      if (path[0] == '/' || dir == from[6].fd || dir == from[7].fd || strncmp(path, "..", 2) == 0)
        continue; /* what can be done there is done to the system */
      LOOK(linkat(AT_FDCWD, "f", dir, path, 0));
      unlinkat(dir, path, 0);
      LOOK(renameat(AT_FDCWD, "f", dir, path));
      close(open("f", O_CREAT | O_RDWR, 0644));
      unlinkat(dir, path, 0);
      LOOK(symlinkat("target", dir, path));
      unlinkat(dir, path, 0);
      LOOK(mkdirat(dir, path, 0755));
      unlinkat(dir, path, AT_REMOVEDIR);
      LOOK(mknodat(dir, path, S_IFREG | 0644, 0));
      LOOK(unlinkat(dir, path, 0));
      LOOK(fchownat(dir, path, 0, 0, 0));
      LOOK(fchownat(dir, path, 0, 0, AT_EMPTY_PATH));
      LOOK(fchmodat(dir, path, 0755, 0));
    }
  }
  /* From the cover to the outside. */
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    const char* path = names[k];
    LOOK(symlink("f", path) == 0 ? unlink(path) : -1);
  }
}

/* Ranges of files of every kind, and offsets that are too large or negative. */
static void ranges(void) {
  int ends[2], file = make("f", "0123456789"), other = make("g", "abcdefghij"), entry = pipe(ends);
  mkfifo("p", 0644);
  const struct {
    const char* name;
    int fd;
  } all[] = {{"file", file},
             {"other", other},
             {"reader", open("f", O_RDONLY)},
             {"writer", open("f", O_WRONLY)},
             {"appender", open("f", O_RDWR | O_APPEND)},
             {"path", open("f", O_PATH)},
             {"directory", open(".", O_RDONLY)},
             {"fifo", open("p", O_RDWR)},
             {"pipe out", ends[0]},
             {"pipe in", ends[1]},
             {"device", open("/dev/zero", O_RDWR)},
             {"null", open("/dev/null", O_RDWR)},
             {"closed", 700 + entry}};
  enum { kAll = sizeof all / sizeof *all };
  const off_t offsets[] = {0, 5, 10, 20, -1, -100, INT64_MAX, INT64_MIN};
  const size_t sizes[] = {0, 3, 1000, SIZE_MAX, SIZE_MAX / 2, 1UL << 63};
  for (int i = 0; i < kAll; ++i) {
    for (int k = 0; k < kAll; ++k) {
      const char* path = all[i].name;
      off_t from = 0, to = 0;
      printf("%s: ", all[k].name);
      LOOK(copy_file_range(all[i].fd, &from, all[k].fd, NULL, 0, 0));
      LOOK(copy_file_range(all[i].fd, &from, all[k].fd, NULL, 0, 1));
      LOOK(copy_file_range(all[i].fd, &from, all[k].fd, (off_t*)-1, 0, 1));
      if (i < 2 && k < 2) continue;
      LOOK(copy_file_range(all[i].fd, &from, all[k].fd, &to, 2, 0));
      printf("%ld %ld\n", (long)from, (long)to);
    }
  }
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; ++i) {
    for (size_t k = 0; k < sizeof offsets / sizeof *offsets; ++k) {
      for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
        const char* path = "";
        if (offsets[i] >= 0 && offsets[k] >= 1000 && sizes[n] < SIZE_MAX / 2) continue; /* sparse */
        off_t from = offsets[i], to = offsets[k];
        printf("%ld %ld %ld", (long)from, (long)to, (long)sizes[n]);
        LOOK(copy_file_range(file, &from, other, &to, sizes[n], 0));
        printf("%ld %ld\n", (long)from, (long)to);
        from = offsets[i], to = offsets[k];
        LOOK(copy_file_range(file, &from, file, &to, sizes[n], 0));
        if (ftruncate(file, 10) != 0 || ftruncate(other, 10) != 0) exit(1);
      }
    }
  }
}

/* Every name of pathconf, and some bad ones. Limits that are Cairn's own are left out. */
static void configured(void) {
  close(make("f", "text")), mkdir("d", 0755), symlink("missing", "dangling");
  const char* all[] = {"f", "d", ".", "missing", "", "dangling", "f/x"};
  for (int name = -2; name < 24; ++name) {
    if (name == _PC_LINK_MAX || name == _PC_FILESIZEBITS || name == _PC_SYMLINK_MAX) continue;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
      const char* path = all[i];
      printf("%d: ", name);
      LOOK(pathconf(path, name));
      int fd = open(path, O_RDONLY), held = open(path, O_PATH);
      LOOK(fpathconf(fd, name));
      LOOK(fpathconf(held, name));
      if (fd >= 0) close(fd);
      if (held >= 0) close(held);
    }
  }
}

/* Sizes, flags and null pointers that the kernel cuts or refuses. */
__attribute__((no_sanitize("undefined"))) static void odd(void) {
  close(make("file", "text")), symlink("file", "to-file"), mkdir("dir", 0755);
  char* words[] = {"x", NULL};
  int fd = open("file", O_RDWR);
  SHOW(readlink("to-file", buffer, (size_t)-1));
  SHOW(readlink("to-file", buffer, 1UL << 32));
  SHOW(readlink("to-file", buffer, (1UL << 32) + 3));
  SHOW(readlink("to-file", buffer, INT_MAX));
  SHOW(readlink("missing", buffer, (size_t)-1));
  SHOW(syscall(SYS_getcwd, buffer, 0));
  SHOW(syscall(SYS_getcwd, buffer, 1));
  SHOW(syscall(SYS_getcwd, NULL, 1));
  SHOW(syscall(SYS_getcwd, NULL, 1000));
  SHOW(chroot("missing"));
  SHOW(chroot("file"));
  SHOW(chroot("file/x"));
  SHOW(execveat(AT_FDCWD, "file", words, environ, 0x77777));
  SHOW(execveat(fd, "", words, environ, 0x77777));
  SHOW(execveat(fd, "", words, environ, 0));
  SHOW(execveat(fd, "", words, environ, 0x77777 & ~AT_EMPTY_PATH));
  SHOW(execveat(fd, "", words, environ, AT_EMPTY_PATH));
  SHOW(execveat(fd, "x", words, environ, 0));
  SHOW(execveat(-1, "x", words, environ, 0));
  SHOW(fexecve(fd, words, environ));
  SHOW(fexecve(fd, NULL, environ));
  SHOW(fexecve(fd, words, NULL));
  SHOW(fexecve(-1, words, environ));
  SHOW(fexecve(open("dir", O_RDONLY), words, environ));
  /* A program that nobody may run. */
  SHOW(system("cp \"$(command -v true)\" program; chmod 0644 program"));
  fd = open("program", O_RDONLY);
  SHOW(fexecve(fd, words, environ));
  SHOW(execveat(fd, "", words, environ, AT_EMPTY_PATH));
  SHOW(execve("program", words, environ));
  SHOW(syscall(SYS_openat2, AT_FDCWD, "file", buffer, 0));
  SHOW(syscall(SYS_openat2, AT_FDCWD, "file", buffer, 8192));
  SHOW(syscall(SYS_openat2, AT_FDCWD, "file", buffer, (size_t)-1));
  close(fd);
}

PARTS({"odd", odd}, {"bases", bases}, {"ranges", ranges}, {"configured", configured},
      {"lengths", lengths}, {"single", single}, {"moving", moving}, {"pairs", pairs},
      {"flags", flags})
