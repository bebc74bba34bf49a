/* A program that lies in a covered directory, and looks at /proc/self/exe. See show.h. */
#include <limits.h>

#include "show.h"

static const char* const kNames[] = {"/proc/self/exe", "/proc/thread-self/exe", NULL};

/* What the copy says of itself. */
static void tell(const char* say) {
  char own[64];
  snprintf(own, sizeof own, "/proc/%d/exe", getpid());
  for (int i = 0; i < 3; ++i) {
    const char* name = i < 2 ? kNames[i] : own;
    char target[PATH_MAX], whole[PATH_MAX];
    struct stat st, file;
    ssize_t length = readlink(name, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = '\0';
    const char* real = realpath(name, whole);
    printf("%s: %s, %s", say, target, real != NULL ? real : strerrorname_np(errno));
    if (stat(name, &st) == 0 && stat(target, &file) == 0)
      printf(", %s", st.st_dev == file.st_dev && st.st_ino == file.st_ino ? "same" : "another");
    printf(", %zd", readlink(name, target, 5));
    printf(", %d\n", lstat(name, &st) == 0 && S_ISLNK(st.st_mode));
  }
  char magic[4] = "";
  int fd = open("/proc/self/exe", O_RDONLY);
  if (read(fd, magic, 4) == 4) printf("%s: %d\n", say, memcmp(magic, "\177ELF", 4));
  close(fd);
  for (char** variable = environ; *variable != NULL; ++variable)
    if (strncmp(*variable, "CAIRN_PROGRAM", 13) == 0) printf("%s: told of it\n", say);
  fflush(stdout);
}

static void copy_here(const char* to) {
  int from = open("/proc/self/exe", O_RDONLY);
  int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  static char piece[65536];
  for (ssize_t got; (got = read(from, piece, sizeof piece)) > 0;)
    if (write(fd, piece, (size_t)got) != got) perror("write");
  close(from);
  close(fd);
}

static void run(const char* path, const char* part) {
  pid_t child = fork();
  if (child == 0) {
    execl(path, "copy", part, NULL);
    perror("execl");
    _exit(1);
  }
  waitpid(child, NULL, 0);
}

static void paths(void) {
  run("bin/program", "tell");
  run("link", "tell");
  run("bin/../bin//./program", "tell");
  char* arguments[] = {"copy", "tell", NULL};
  pid_t child;
  if (posix_spawn(&child, "bin/program", NULL, NULL, arguments, environ) == 0)
    waitpid(child, NULL, 0);
  if ((child = fork()) == 0) {
    fexecve(open("bin/program", O_RDONLY | O_CLOEXEC), arguments, environ);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  chdir("bin");
  setenv("PATH", ".", 1);
  if ((child = fork()) == 0) {
    execlp("program", "copy", "tell", NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
}

/* In the copy: starts itself again. */
static void again(void) {
  tell("first");
  run("/proc/self/exe", "tell");
}

/* In the copy: its file goes. */
static void lost(void) {
  rename("bin/program", "bin/old");
  copy_here("bin/program"); /* another file of that name */
  unlink("bin/old");
  char target[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", target, sizeof target - 1);
  target[length < 0 ? 0 : length] = '\0';
  printf("%s\n", strrchr(target, ' '));
  printf("%d\n", access("/proc/self/exe", X_OK));
  printf("%d\n", realpath("/proc/self/exe", target) != NULL);
  fflush(stdout);
  execl("/proc/self/exe", "copy", "end", NULL);
}

int main(int count, char** arguments) {
  const char* part = count > 1 ? arguments[1] : "";
  if (strcmp(arguments[0], "copy") == 0) {
    if (strcmp(part, "tell") == 0) tell("copy");
    if (strcmp(part, "again") == 0) again();
    if (strcmp(part, "lost") == 0) lost();
    if (strcmp(part, "end") == 0) puts("and again");
    return 0;
  }
  mkdir("bin", 0755);
  copy_here("bin/program");
  symlink("bin/program", "link");
  if (strcmp(part, "paths") == 0) paths();
  if (strcmp(part, "again") == 0) run("bin/program", "again");
  if (strcmp(part, "lost") == 0) run("bin/program", "lost");
  return 0;
}
