/* A file, a link and a program are replaced by renaming others over them, again and again: calls by
 * their names find the old one or the new one, and never nothing. Prints what failed. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static atomic_bool over;
static int failures;

static void check(const char* what, int fine) {
  if (!fine && ++failures <= 20) printf("%s: %s\n", what, strerror(errno));
}

/* Others come and go, so that numbers are used again. */
static void come_and_go(void) {
  close(open("other", O_CREAT | O_WRONLY, 0600));
  unlink("other");
  symlink("wrong", "other");
  unlink("other");
}

static void* replace(void* ignored) {
  while (!over) {
    close(open("next", O_CREAT | O_WRONLY | O_EXCL, 0644));
    check("rename of a file", rename("next", "file") == 0);
    come_and_go();
    symlink("right", "next");
    check("rename of a link", rename("next", "link") == 0);
    come_and_go();
  }
  return ignored;
}

static void* replace_program(void* ignored) {
  while (!over) {
    int fd = open("script.next", O_CREAT | O_WRONLY | O_EXCL, 0755);
    check("write", write(fd, "#!/bin/true\n", 12) == 12);
    close(fd);
    check("rename of a program", rename("script.next", "script") == 0);
  }
  return ignored;
}

static void use_file(void) {
  struct stat st;
  char text[16];
  check("stat", stat("file", &st) == 0 && S_ISREG(st.st_mode));
  check("access", access("file", R_OK) == 0);
  int fd = open("file", O_RDONLY);
  check("open", fd >= 0);
  close(fd);
  check("truncate", truncate("file", 0) == 0);
  check("chmod", chmod("file", 0640) == 0);
  check("chown", chown("file", getuid(), getgid()) == 0);
  check("utimes", utimes("file", NULL) == 0);
  check("setxattr", setxattr("file", "user.a", "b", 1, 0) == 0 || errno == EOPNOTSUPP);
  check("getxattr", getxattr("file", "user.a", text, sizeof text) >= 0 || errno == ENODATA ||
                        errno == EOPNOTSUPP);
  check("readlink", readlink("link", text, sizeof text) == 5 && memcmp(text, "right", 5) == 0);
  fd = open("link/here", O_RDONLY);
  check("open through a link", fd >= 0);
  close(fd);
}

static void start(void) {
  pid_t child = fork();
  if (child == 0) {
    execl("./script", "./script", NULL);
    _exit(errno);
  }
  int status = 0;
  waitpid(child, &status, 0);
  errno = WEXITSTATUS(status);
  /* The child may have got the descriptor with which the other thread wrote it. */
  check("execve", status == 0 || errno == ETXTBSY);
}

int main(void) {
  mkdir("right", 0755);
  mkdir("wrong", 0755);
  close(open("right/here", O_CREAT | O_WRONLY, 0644));
  close(open("file", O_CREAT | O_WRONLY, 0644));
  symlink("right", "link");
  int script = open("script", O_CREAT | O_WRONLY, 0755);
  check("write", write(script, "#!/bin/true\n", 12) == 12);
  close(script);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, replace, NULL);
  pthread_create(&threads[1], NULL, replace_program, NULL);
  const time_t end = time(NULL) + 3;
  for (int round = 0; time(NULL) < end; ++round) {
    use_file();
    if (round % 256 == 0) start();
  }
  over = 1;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  chmod("file", 0644);
  printf("%d calls failed\n", failures);
  return 0;
}
