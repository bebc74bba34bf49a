/* Names, attributes, directories. One paragraph per trap; see show.h. */
#include "show.h"

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
  void* volatile nowhere = NULL; /* not seen by the compiler */
  SHOW(setxattr("attr", "user.three", nowhere, 1, 0));
  SHOW(setxattr("attr", nowhere, "1", 1, 0));
  SHOW(getxattr("attr", "user.one", nowhere, 5));
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

/* A namespace without a name, and flags that contradict each other. */
static void extended(void) {
  close(make("file", "text"));
  mkdir("dir", 0755);
  symlink("nowhere", "link");
  const char* namespaces[] = {"user.", "trusted.", "security.", "unknown.", "user", "."};
  for (int i = 0; i < 6; ++i) {
    const char* name = namespaces[i];
    printf("%s\n", name);
    SHOW(setxattr("file", name, "1", 1, 0));
    SHOW(setxattr("dir", name, "1", 1, 0));
    SHOW(lsetxattr("link", name, "1", 1, 0));
    SHOW(getxattr("file", name, buffer, 10));
    SHOW(lgetxattr("link", name, buffer, 10));
    SHOW(removexattr("file", name));
  }
  SHOW(setxattr("file", "user.a", "1", 1, XATTR_CREATE | XATTR_REPLACE));
  SHOW(setxattr("file", "user.a", "1", 1, XATTR_REPLACE));
  SHOW(setxattr("file", "user.a", "1", 1, XATTR_CREATE));
  SHOW(setxattr("file", "user.a", "2", 1, XATTR_CREATE | XATTR_REPLACE));
  SHOW(setxattr("file", "user.a", "3", 1, XATTR_CREATE));
  SHOW(setxattr("file", "user.a", "4", 1, XATTR_REPLACE));
  SHOW(getxattr("file", "user.a", buffer, 10));
  printf("%c\n", buffer[0]);
}

PARTS({"extended", extended}, {"names", names}, {"attributes", attributes},
      {"directories", directories})
