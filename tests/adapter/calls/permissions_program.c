/* What users other than root may do, and what their changes take from a file. See show.h. Only root
 * can become another user: for others both runs end at once. */
#include <grp.h>
#include <sys/fsuid.h>

#include "show.h"

enum { kUser = 1000, kGroup = 1000, kOther = 2000, kFarther = 2500 };

/* The caller's effective user, in two groups or as root in his own. */
static void become(uid_t user) {
  gid_t groups[2] = {kGroup, kOther};
  if (seteuid(0) != 0 || setegid(user == 0 ? 0 : kGroup) != 0) exit(1);
  if (setgroups(user == 0 ? 0 : 2, groups) != 0) exit(1);
  if (user != 0 && seteuid(user) != 0) exit(1);
  printf("as %d\n", (int)user);
}

static void show_owner(const char* path) {
  struct stat st;
  if (lstat(path, &st) != 0) perror(path);
  printf("%s: %o of %d:%d\n", path, (int)st.st_mode, (int)st.st_uid, (int)st.st_gid);
}

/* A file of the user's, with this mode. */
static void give(const char* path, mode_t mode) {
  uid_t user = geteuid();
  if (seteuid(0) != 0) exit(1);
  close(make(path, "some text"));
  if (chown(path, kUser, kGroup) != 0 || chmod(path, mode) != 0) exit(1);
  if (seteuid(user) != 0) exit(1);
}

#define OWNED(path, call) \
  do {                    \
    SHOW(call);           \
    show_owner(path);     \
  } while (0)

static void change_owners(void) {
  const mode_t modes[] = {0644, 06777, 06644, 02644, 02654, 04600};
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; ++i) {
    give("mine", modes[i]);
    printf("mode %o\n", modes[i]);
    OWNED("mine", chown("mine", -1, kOther));
    OWNED("mine", chown("mine", -1, kFarther));
    OWNED("mine", chown("mine", kUser, kOther));
    OWNED("mine", chown("mine", kUser, 0));
    OWNED("mine", chown("mine", 0, -1));
    give("mine", modes[i]);
    OWNED("mine", chown("mine", -1, -1));
    OWNED("mine", chown("roots", -1, kOther));
    OWNED("roots", chown("roots", -1, -1));
    OWNED("roots4", chown("roots4", -1, -1));
  }
}

static void owners(void) {
  if (geteuid() != 0) return;
  close(make("roots", "")), close(make("roots4", "")), chmod("roots4", 04755);
  mkdir("sgid", 0755), chown("sgid", kUser, kFarther);
  become(kUser);
  change_owners();
  OWNED("sgid", chmod("sgid", 02755));
  OWNED("sgid", chown("sgid", -1, kOther));
  OWNED("sgid", chmod("sgid", 02755));
  OWNED("sgid", chown("sgid", -1, kGroup));
  become(0);
  change_owners();
}

static int aio(int fd) {
  struct aiocb request = {.aio_fildes = fd, .aio_buf = "x", .aio_nbytes = 1};
  if (aio_write(&request) != 0) return -1;
  const struct aiocb* list[] = {&request};
  aio_suspend(list, 1, NULL);
  return (int)aio_return(&request);
}

static int from_other(int fd) {
  int other = open("other", O_RDONLY);
  ssize_t moved = sendfile(fd, other, NULL, 3);
  close(other);
  return (int)moved;
}

#define CHANGED(call)       \
  do {                      \
    if (fchmod(fd, mode)) { \
    }                       \
    OWNED("mine", call);    \
  } while (0)

static void change_bytes(mode_t mode) {
  struct iovec piece[2] = {{"ab", 2}, {"c", 1}};
  give("mine", mode);
  int fd = open("mine", O_RDWR);
  CHANGED(write(fd, "x", 1));
  CHANGED(write(fd, "x", 0));
  CHANGED(pwrite(fd, "x", 1, 0));
  CHANGED(pwrite(fd, "x", 1, -1));
  CHANGED(writev(fd, piece, 2));
  CHANGED(pwritev(fd, piece, 2, 1));
  CHANGED(pwritev2(fd, piece, 2, 1, RWF_APPEND));
  CHANGED(pwritev2(fd, piece, 2, -1, RWF_APPEND));
  CHANGED(dprintf(fd, "%d", 1));
  CHANGED(aio(fd));
  CHANGED(from_other(fd));
  CHANGED(ftruncate(fd, 100));
  CHANGED(ftruncate(fd, 100));
  CHANGED(truncate("mine", 50));
  CHANGED(fallocate(fd, 0, 0, 10));
  CHANGED(fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 10));
  CHANGED(posix_fallocate(fd, 0, 10));
  CHANGED(read(fd, buffer, 10));
  CHANGED(close(open("mine", O_WRONLY)));
  CHANGED(close(open("mine", O_WRONLY | O_TRUNC)));
  CHANGED(close(open("mine", O_RDONLY)));
  close(fd);
}

static void bytes(void) {
  if (geteuid() != 0) return;
  close(make("other", "other text"));
  const mode_t modes[] = {06777, 02644, 04644, 0644};
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; ++i) {
    become(kUser);
    change_bytes(modes[i]);
    become(0);
    change_bytes(modes[i]);
  }
}

/* Each directory in a path must be one that the caller may search. */
static void look_below(const char* dir, const char* path) {
  struct stat st;
  printf("%s\n", path);
  SHOW(stat(path, &st));
  SHOW(lstat(path, &st));
  SHOW(access(path, F_OK));
  SHOW(faccessat(AT_FDCWD, path, F_OK, AT_EACCESS));
  SHOW(close(open(path, O_RDONLY)));
  SHOW(close(open(path, O_PATH)));
  SHOW(close(open(path, O_WRONLY | O_CREAT, 0644)));
  SHOW(mkdir(path, 0755));
  SHOW(readlink(path, buffer, 10));
  SHOW(getxattr(path, "user.none", buffer, 10));
  SHOW(stat(dir, &st));
  SHOW(access(dir, X_OK));
  int fd = open(dir, O_RDONLY);
  SHOW(fd >= 0);
  if (fd < 0) return;
  SHOW(fstatat(fd, "in", &st, 0));
  SHOW(fstatat(fd, ".", &st, 0));
  SHOW(fstatat(fd, "..", &st, 0));
  SHOW(fchdir(fd));
  close(fd);
}

static void walks(void) {
  if (geteuid() != 0) return;
  int home = open(".", O_RDONLY);
  symlink("dir/in", "to-file"), symlink("dir", "to-dir");
  mkdir("dir", 0755);
  close(make("dir/in", "text"));
  mkdir("dir/deep", 0755);
  close(make("dir/deep/in", "text"));
  const struct {
    mode_t mode;
    uid_t user;
    gid_t group;
  } dirs[] = {{0666, 0, 0},        {0700, 0, 0},      {0711, 0, 0},      {0700, kUser, 0},
              {0666, kUser, 0},    {0077, kUser, 0},  {0710, 0, kGroup}, {0710, 0, kOther},
              {0710, 0, kFarther}, {0701, 0, kGroup}, {0, 0, 0},         {0755, 0, 0}};
  for (unsigned i = 0; i < sizeof dirs / sizeof *dirs; ++i) {
    become(0);
    if (chown("dir", dirs[i].user, dirs[i].group) != 0 || chmod("dir", dirs[i].mode) != 0) exit(1);
    printf("directory %o of %d:%d\n", dirs[i].mode, (int)dirs[i].user, (int)dirs[i].group);
    for (int user = 0; user < 2; ++user) {
      become(user == 0 ? 0 : kUser);
      const char* below[] = {"dir/in",  "dir/missing", "dir/deep/in",
                             "dir/.",   "dir/..",      "dir/deep/../in",
                             "to-file", "to-dir/in",   "dir/../dir/in"};
      for (int j = 0; j < 9; ++j) {
        look_below("dir", below[j]);
        if (fchdir(home) != 0) exit(1);
        rmdir("dir/missing"), unlink("dir/missing");
      }
    }
  }
  become(0);
  chmod("dir", 0755), chown("dir", 0, 0);
  close(home);
}

/* What is made belongs to whom the maker has become. */
static void makers(void) {
  if (geteuid() != 0) return;
  chmod(".", 0777);
  close(make("roots", ""));
  become(kUser);
  close(make("users", ""));
  mkdir("directory", 0700);
  close(make("directory/inside", ""));
  symlink("nowhere", "link");
  show_owner("users"), show_owner("directory"), show_owner("directory/inside"), show_owner("link");
  become(0);
  SHOW(setegid(kOther));
  close(make("others", ""));
  SHOW(setregid(-1, kFarther));
  close(make("farther", ""));
  SHOW(setresgid(-1, 0, -1));
  close(make("roots2", ""));
  show_owner("roots"), show_owner("others"), show_owner("farther"), show_owner("roots2");
  SHOW(seteuid(54321));
  SHOW(setegid(0));
  SHOW(seteuid(0));
}

/* What is made in a directory with S_ISGID has its group. */
static void make_in(const char* dir) {
  char path[64];
  const mode_t modes[] = {0644, 02644, 02755, 06711};
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; ++i) {
    printf("mode %o\n", modes[i]);
    snprintf(path, sizeof path, "%s/file", dir);
    close(open(path, O_WRONLY | O_CREAT, modes[i])), show_owner(path), unlink(path);
    mkfifo(path, modes[i]), show_owner(path), unlink(path);
    mkdir(path, modes[i]), show_owner(path), rmdir(path);
    int fd = open(dir, O_TMPFILE | O_RDWR, modes[i]);
    linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH);
    snprintf(buffer, sizeof buffer, "/proc/self/fd/%d", fd);
    linkat(AT_FDCWD, buffer, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    show_owner(path), unlink(path), close(fd);
  }
  symlink("x", path), show_owner(path), unlink(path);
}

static void groups(void) {
  if (geteuid() != 0) return;
  mkdir("set", 0777);
  const gid_t owners[] = {kGroup, kOther, kFarther};
  /* The bit goes also where the mask takes the group's right to execute, which comes later. */
  const mode_t masks[] = {0, 010, 027, 077};
  for (unsigned i = 0; i < sizeof owners / sizeof *owners * 4; ++i) {
    umask(masks[i / 3]);
    printf("mask %o\n", masks[i / 3]);
    if (chown("set", 0, owners[i % 3]) != 0 || chmod("set", 02777) != 0) exit(1);
    make_in("set");
    become(kUser);
    make_in("set");
    become(0);
  }
  umask(022);
}

/* Names for files of others, and names that are the same file. */
static void linking(void) {
  if (geteuid() != 0) return;
  chmod(".", 0777);
  mkdir("closed", 0755), mkdir("sticky", 01777);
  close(make("closed/a", "")), link("closed/a", "closed/b");
  close(make("sticky/a", "")), link("sticky/a", "sticky/b");
  const mode_t modes[] = {0666, 0644, 0622, 04666, 02666, 02676, 0660};
  mkfifo("fifo", 0666), symlink("fifo", "link"), chmod("fifo", 0666);
  for (int user = 0; user < 2; ++user) {
    become(user == 0 ? kUser : 0);
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; ++i) {
      uid_t now = geteuid();
      if (seteuid(0) != 0) exit(1);
      close(make("theirs", "")), chmod("theirs", modes[i]);
      if (seteuid(now) != 0) exit(1);
      printf("mode %o\n", modes[i]);
      SHOW(link("theirs", "name"));
      unlink("name");
      int fd = open("theirs", O_PATH);
      snprintf(buffer, sizeof buffer, "/proc/self/fd/%d", fd);
      SHOW(linkat(AT_FDCWD, buffer, AT_FDCWD, "name", AT_SYMLINK_FOLLOW));
      unlink("name"), close(fd);
    }
    SHOW(link("fifo", "name"));
    unlink("name");
    SHOW(link("link", "name"));
    unlink("name");
    close(make("mine", "")), chmod("mine", 0);
    SHOW(link("mine", "name"));
    unlink("name"), unlink("mine");
    SHOW(rename("closed/a", "closed/a"));
    SHOW(rename("closed/a", "closed/b"));
    SHOW(rename("sticky/a", "sticky/b"));
    SHOW(renameat2(AT_FDCWD, "closed/a", AT_FDCWD, "closed/b", RENAME_EXCHANGE));
    SHOW(renameat2(AT_FDCWD, "closed/a", AT_FDCWD, "closed/b", RENAME_NOREPLACE));
  }
}

/* A directory that is given another parent is written to, for its ".." changes. */
static void show_moves(void) {
  SHOW(rename("a/closed", "b/closed"));
  SHOW(rename("b/closed", "a/closed"));
  SHOW(rename("a/closed", "a/renamed"));
  SHOW(rename("a/renamed", "a/closed"));
  SHOW(rename("a/closed", "b/file"));
  SHOW(rename("a/closed", "b/empty"));
  SHOW(rename("a/closed", "b/full"));
  SHOW(rename("a/closed", "a/closed/below"));
  SHOW(rename("a/closed", "a/open/deep/closed"));
  SHOW(rename("a/open/deep/closed", "a/closed"));
  SHOW(rename("a/open", "a/open/deep/below"));
  SHOW(rename("a/open/deep", "a/closed"));
  SHOW(rename("a/read-only", "b/read-only"));
  SHOW(rename("b/read-only", "a/read-only"));
  SHOW(renameat2(AT_FDCWD, "a/closed", AT_FDCWD, "b/full", RENAME_EXCHANGE));
  SHOW(renameat2(AT_FDCWD, "b/full", AT_FDCWD, "a/closed", RENAME_EXCHANGE));
  SHOW(renameat2(AT_FDCWD, "a/open", AT_FDCWD, "b/closed-too", RENAME_EXCHANGE));
  SHOW(renameat2(AT_FDCWD, "a/open", AT_FDCWD, "b/full", RENAME_EXCHANGE));
  SHOW(renameat2(AT_FDCWD, "b/full", AT_FDCWD, "a/open", RENAME_EXCHANGE));
  SHOW(renameat2(AT_FDCWD, "a/closed", AT_FDCWD, "b/file", RENAME_EXCHANGE));
  SHOW(renameat2(AT_FDCWD, "b/file", AT_FDCWD, "a/closed", RENAME_EXCHANGE));
  SHOW(renameat2(AT_FDCWD, "a/closed", AT_FDCWD, "b/closed-too", RENAME_NOREPLACE));
}

static void moving(void) {
  if (geteuid() != 0) return;
  chmod(".", 0777);
  become(kUser);
  mkdir("a", 0755), mkdir("b", 0755);
  mkdir("a/open", 0755), mkdir("a/open/deep", 0755), mkdir("b/full", 0755);
  mkdir("b/full/inside", 0755), mkdir("b/empty", 0755);
  close(make("b/file", "")), close(make("a/read-only", "")), chmod("a/read-only", 0444);
  mkdir("a/closed", 0555), mkdir("b/closed-too", 0555);
  show_moves();
  if (seteuid(0) != 0) exit(1);
  /* Only the group may write. */
  chown("a/closed", 0, kOther), chmod("a/closed", 0575);
  chown("b/closed-too", 0, kFarther), chmod("b/closed-too", 0575);
  become(kUser);
  show_moves();
  become(0);
  show_moves();
}

/* O_NOATIME is the owner's, and his reading leaves no time. */
static void read_with(int flags, int later) {
  struct timespec times[2] = {{1000, 0}, {2000, 0}};
  struct stat st;
  if (utimensat(AT_FDCWD, "mine", times, 0) != 0) exit(1);
  int fd = open("mine", O_RDONLY | flags);
  SHOW(read(fd, buffer, 1));
  if (later >= 0) {
    SHOW(fcntl(fd, F_SETFL, later));
    SHOW(fcntl(fd, F_GETFL) & O_NOATIME);
    SHOW(pread(fd, buffer, 1, 0));
  }
  close(fd);
  if (stat("mine", &st) != 0) exit(1);
  printf("flags %#x, then %#x: %s\n", flags, later, st.st_atime == 1000 ? "as before" : "read");
}

static void no_access_time(void) {
  if (geteuid() != 0) return;
  chmod(".", 0777);
  close(make("roots", "text"));
  become(kUser);
  close(make("mine", "text"));
  SHOW(open("roots", O_RDONLY | O_NOATIME));
  SHOW(open("roots", O_RDONLY | O_NOATIME | O_CREAT, 0600));
  SHOW(open(".", O_RDONLY | O_NOATIME));
  int fd = open("roots", O_RDONLY);
  SHOW(fcntl(fd, F_SETFL, O_NOATIME));
  SHOW(fcntl(fd, F_GETFL) & O_NOATIME);
  SHOW(fcntl(fd, F_SETFL, O_NONBLOCK));
  if (seteuid(0) != 0) exit(1);
  SHOW(fcntl(fd, F_SETFL, O_NOATIME));
  if (seteuid(kUser) != 0) exit(1);
  SHOW(fcntl(fd, F_SETFL, O_NOATIME | O_APPEND));
  SHOW(fcntl(fd, F_GETFL) & (O_NOATIME | O_APPEND));
  close(fd);
  read_with(0, -1);
  read_with(O_NOATIME, -1);
  read_with(O_NOATIME, O_NOATIME);
  read_with(0, O_NOATIME);
  read_with(O_NOATIME, 0);
  become(0);
}

/* Threads that open files as others, each for itself. */
static void* open_as(void* user) {
  uid_t other = *(uid_t*)user;
  SHOW(setfsgid(other));
  SHOW(setfsuid(other));
  SHOW(setfsuid(-1));
  SHOW(close(open("private", O_RDONLY)));
  SHOW(close(open("of-group", O_RDONLY)));
  SHOW(mkdir("closed/new", 0755));
  SHOW(unlink("closed/file"));
  SHOW(access("private", R_OK));
  SHOW(chmod("private", 0600));
  char name[32];
  snprintf(name, sizeof name, "made-by-%d", (int)other);
  close(make(name, "")), show_owner(name);
  SHOW(chmod(name, 0600));
  return NULL;
}

static void openers(void) {
  if (geteuid() != 0) return;
  chmod(".", 0777), mkdir("closed", 0755), close(make("closed/file", ""));
  close(make("private", "")), chmod("private", 0600);
  close(make("of-group", "")), chmod("of-group", 0640), chown("of-group", 0, kFarther);
  uid_t users[] = {kUser, kFarther, 0};
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, open_as, &users[i]);
    pthread_join(thread, NULL);
    close(make("mains", "")), show_owner("mains"), unlink("mains");
    unlink("made-by-0"), rmdir("closed/new");
    close(make("closed/file", ""));
  }
  SHOW(setfsuid(kUser));
  SHOW(setfsuid(0));
  SHOW(close(open("private", O_RDONLY)));
  SHOW(setfsuid(kUser));
  SHOW(close(open("private", O_RDONLY)));
  SHOW(seteuid(0));
  SHOW(close(open("private", O_RDONLY)));
  SHOW(setfsgid(0));
}

PARTS({"openers", openers}, {"atime", no_access_time}, {"moving", moving}, {"groups", groups},
      {"linking", linking}, {"makers", makers}, {"walks", walks}, {"bytes", bytes},
      {"owners", owners})
