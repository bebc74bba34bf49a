/* For programs that make calls in the working directory and print what they return: the same lines
 * in a covered directory as in a plain one. A program has parts; its argument says which one is to
 * run. */
#ifndef SHOW_H
#define SHOW_H

#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <locale.h>
#include <mntent.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

__attribute__((unused)) static void show_file(const char* path) {
  int fd = open(path, O_RDONLY);
  ssize_t got = fd < 0 ? -1 : read(fd, buffer, sizeof buffer);
  printf("%s holds %zd: %.*s\n", path, got, got > 200 ? 200 : (int)(got < 0 ? 0 : got), buffer);
  close(fd);
}

__attribute__((unused)) static int make(const char* path, const char* text) {
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (write(fd, text, strlen(text)) < 0) perror(path);
  return fd;
}

struct part {
  const char* name;
  void (*run)(void);
};

/* main: all parts, or the one that is named, each in a directory of its own. */
#define PARTS(...)                                                         \
  int main(int count, char** arguments) {                                  \
    struct part parts[] = {__VA_ARGS__};                                   \
    setlocale(LC_ALL, "");                                                 \
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);                                \
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {            \
      if (count > 1 && strcmp(arguments[1], parts[i].name) != 0) continue; \
      printf("== %s\n", parts[i].name);                                    \
      mkdir(parts[i].name, 0755);                                          \
      if (chdir(parts[i].name) != 0) return 1;                             \
      fflush(stdout);                                                      \
      parts[i].run();                                                      \
      if (chdir("..") != 0) return 1;                                      \
    }                                                                      \
    return 0;                                                              \
  }

#endif /* SHOW_H */
