/* What files are not (sockets, terminals), what they are told nevertheless, and what they are
 * called. See show.h. */
#include <linux/fs.h>
#include <sys/ipc.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>
#include <wordexp.h>

#include "show.h"

static struct sockaddr_un named(const char* name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, name, sizeof address.sun_path - 1);
  return address;
}

static int file, directory, held;
static void open_all(void) {
  file = make("f", "text"), directory = open(".", O_RDONLY), held = open("f", O_PATH);
}

static int aio_done(struct aiocb* request, int started) {
  if (started != 0) return -errno;
  const struct aiocb* list[] = {request};
  aio_suspend(list, 1, NULL);
  int error = aio_error(request);
  printf("%zd ", aio_return(request));
  return error;
}

static void controls(void) {
  open_all();
  const int all[] = {file, directory, held};
  for (int i = 0; i < 3; ++i) {
    int one = all[i], number = 0;
    socklen_t size = sizeof number;
    struct sockaddr_un address = named("x");
    struct msghdr message = {0};
    SHOW(bind(one, (struct sockaddr*)&address, sizeof address));
    SHOW(access("x", F_OK));
    SHOW(connect(one, (struct sockaddr*)&address, sizeof address));
    SHOW(listen(one, 1));
    SHOW(accept(one, NULL, NULL));
    SHOW(send(one, "x", 1, 0));
    SHOW(sendto(one, "x", 1, 0, NULL, 0));
    SHOW(sendmsg(one, &message, 0));
    SHOW(recv(one, buffer, 1, 0));
    SHOW(recvfrom(one, buffer, 1, 0, NULL, NULL));
    SHOW(recvmsg(one, &message, 0));
    SHOW(shutdown(one, SHUT_RD));
    SHOW(getsockopt(one, SOL_SOCKET, SO_TYPE, &number, &size));
    SHOW(setsockopt(one, SOL_SOCKET, SO_REUSEADDR, &number, size));
    size = sizeof address;
    SHOW(getsockname(one, (struct sockaddr*)&address, &size));
    SHOW(getpeername(one, (struct sockaddr*)&address, &size));
    SHOW(ioctl(one, FIGETBSZ, &number));
    SHOW(number);
    number = 7;
    SHOW(ioctl(one, FS_IOC_GETFLAGS, &number));
    SHOW(number & FS_IMMUTABLE_FL);
    number = 0;
    SHOW(ioctl(one, FS_IOC_SETFLAGS, &number));
    SHOW(ioctl(one, 0x5401, buffer)); /* TCGETS */
    SHOW(tcgetattr(one, (struct termios*)buffer));
    SHOW(tcgetpgrp(one));
    SHOW(tcflush(one, TCIOFLUSH));
    SHOW(ttyname_r(one, buffer, sizeof buffer));
    SHOW(ttyname(one) != NULL);
    SHOW(ioctl(one, 0x12345678, buffer));
    struct f_owner_ex owner = {F_OWNER_PID, getpid()};
    SHOW(fcntl(one, F_SETOWN_EX, &owner));
    int got = fcntl(one, F_GETOWN);
    SHOW(got == getpid());
    SHOW(fcntl(one, F_SETOWN, -getpgrp()));
    SHOW(fcntl(one, F_GETOWN_EX, &owner));
    SHOW(owner.type);
    SHOW(owner.pid == getpgrp());
    owner = (struct f_owner_ex){F_OWNER_TID, getpid()};
    SHOW(fcntl(one, F_SETOWN_EX, &owner));
    owner.type = -1;
    SHOW(fcntl(one, F_GETOWN_EX, &owner));
    SHOW(owner.type);
    owner = (struct f_owner_ex){7, getpid()};
    SHOW(fcntl(one, F_SETOWN_EX, &owner));
    owner = (struct f_owner_ex){F_OWNER_PID, 99999999};
    SHOW(fcntl(one, F_SETOWN_EX, &owner));
    SHOW(fcntl(one, F_SETOWN, 99999999));
    SHOW(fcntl(one, F_SETOWN, 0));
    SHOW(fcntl(one, F_GETOWN));
  }
}

static void asynchronous(void) {
  open_all();
  const int kinds[] = {file, open("f", O_RDONLY), open("f", O_WRONLY), directory, held};
  for (int i = 0; i < 5; ++i) {
    printf("kind %d\n", i);
    struct aiocb request = {.aio_fildes = kinds[i], .aio_buf = buffer, .aio_nbytes = 1};
    SHOW(aio_done(&request, aio_read(&request)));
    SHOW(aio_done(&request, aio_write(&request)));
    SHOW(aio_done(&request, aio_fsync(O_SYNC, &request)));
    SHOW(aio_fsync(77, &request));
    request.aio_offset = -1;
    SHOW(aio_done(&request, aio_read(&request)));
    request.aio_offset = 0;
    request.aio_reqprio = -1;
    SHOW(aio_done(&request, aio_read(&request)));
    request.aio_reqprio = 0;
    struct aiocb* list[] = {&request};
    request.aio_lio_opcode = LIO_READ;
    SHOW(lio_listio(LIO_WAIT, list, 1, NULL));
    SHOW(lio_listio(77, list, 1, NULL));
  }
}

static void waits(void) {
  open_all();
  fd_set asked;
  FD_ZERO(&asked);
  FD_SET(file, &asked);
  struct timeval wait = {0, 50000};
  SHOW(select(file + 1, NULL, NULL, &asked, &wait));
  SHOW(wait.tv_sec * 1000000 + wait.tv_usec);
  wait.tv_sec = 5;
  FD_SET(file, &asked);
  SHOW(select(file + 1, &asked, NULL, NULL, &wait));
  SHOW(wait.tv_sec >= 4);
  /* A name that does not fit. */
  int receiver = socket(AF_UNIX, SOCK_DGRAM, 0), sender = socket(AF_UNIX, SOCK_DGRAM, 0);
  struct sockaddr_un to = named("receiver"), from = named("a-sender-with-a-name"), got;
  bind(receiver, (struct sockaddr*)&to, sizeof to);
  bind(sender, (struct sockaddr*)&from, sizeof from);
  SHOW(sendto(sender, "x", 1, 0, (struct sockaddr*)&to, sizeof to));
  memset(&got, 0, sizeof got);
  struct iovec piece = {buffer, 1};
  struct msghdr message = {
      .msg_name = &got, .msg_namelen = 2 + 6, .msg_iov = &piece, .msg_iovlen = 1};
  SHOW(recvmsg(receiver, &message, 0));
  printf("%s of %d\n", got.sun_path, (int)message.msg_namelen);
}

static void opens(void) {
  open_all();
  int program = make("program", "#!/bin/sh\necho run $1\n");
  fchmod(program, 0755), close(program);
  symlink("program", "link");
  for (int i = 0; i < 3; ++i) {
    char* arguments[] = {"program", "argument", NULL};
    fflush(stdout);
    if (fork() == 0) {
      execveat(directory,
               i == 0   ? "program"
               : i == 1 ? "link"
                        : "missing",
               arguments, environ, i == 1 ? AT_SYMLINK_NOFOLLOW : 0);
      _exit(errno);
    }
    int status;
    wait4(-1, &status, 0, NULL);
    SHOW(WEXITSTATUS(status));
  }
  struct {
    uint64_t flags, mode, resolve, more;
  } how = {0};
  const uint64_t hows[][4] = {
      {0, 0, 0, 0},          {0, 0644, 0, 0},           {O_CREAT, 010000, 0, 0},
      {1ULL << 40, 0, 0, 0}, {0, 0, 1 << 9, 0},         {0, 0, 8 | 16, 0},
      {0, 0, 0, 1},          {O_PATH | O_RDWR, 0, 0, 0}};
  for (int i = 0; i < 8; ++i) {
    memcpy(&how, hows[i], sizeof how);
    long opened = syscall(SYS_openat2, directory, "f", &how, sizeof how);
    printf("%s\n", opened < 0 ? strerrorname_np(errno) : "open");
    SHOW(syscall(SYS_openat2, directory, "f", &how, 23));
  }
}

/* Paths that are to stay below a directory. */
static void resolved(void) {
  mkdir("d", 0755), mkdir("d/e", 0755), mkdir("d/e/f", 0755);
  close(make("d/file", "inside")), close(make("file", "outside")), close(make("d/e/f/g", "deep"));
  symlink("e/f", "d/down"), symlink("../d/e", "d/back"), symlink("../../file", "d/e/out");
  symlink("/file", "d/absolute"), symlink("file", "d/same"), symlink("..", "d/e/up");
  symlink("self", "d/self"), symlink("nothing", "d/dangling"), symlink("/", "d/root");
  int below = open("d", O_PATH | O_DIRECTORY);
  const char* paths[] = {
      "file",      "./e/../file", "e/f/g",     "down/g",    "down",       "back/f/g",
      "e/out",     "absolute",    "/file",     "..",        "e/../../d",  "same",
      "e/up/file", "self",        "dangling",  "dangling/", "root/file",  "//e//f//g",
      "e/f/g/",    "file/x",      "missing/x", "",          "e/out/../x", "down/"};
  const uint64_t ways[] = {8, 16, 8 | 4, 16 | 4, 8 | 2, 8 | 1, 4, 2, 4 | 2};
  const int kinds[] = {O_RDONLY, O_PATH | O_NOFOLLOW, O_RDWR | O_CREAT};
  for (int i = 0; i < (int)(sizeof paths / sizeof *paths); ++i) {
    for (int w = 0; w < 9; ++w) {
      /* Those that may lead out of "d" create nothing there. */
      for (int k = 0; k < (w < 6 ? 3 : 2); ++k) {
        struct {
          uint64_t flags, mode, resolve;
        } how = {(uint64_t)kinds[k], k == 2 ? 0644 : 0, ways[w]};
        /* The kernel's answer to ".." while anybody on the machine renames something is EAGAIN. */
        int fd = -1, tries = 0;
        do
          fd = (int)syscall(SYS_openat2, below, paths[i], &how, sizeof how);
        while (fd < 0 && errno == EAGAIN && ++tries < 100);
        struct stat st;
        if (fd < 0) {
          printf("%s, %d, %d: %s\n", paths[i], (int)ways[w], k, strerrorname_np(errno));
        } else {
          fstat(fd, &st);
          printf("%s, %d, %d: %d, a %o, %d\n", paths[i], (int)ways[w], k, fd, st.st_mode & S_IFMT,
                 S_ISDIR(st.st_mode) ? 0 : (int)st.st_size);
          close(fd);
        }
        unlinkat(below, "nothing", 0);
      }
    }
  }
  chdir("d");
  struct {
    uint64_t flags, mode, resolve;
  } how = {O_RDONLY, 0, 8};
  printf("%d\n", syscall(SYS_openat2, AT_FDCWD, "down/g", &how, sizeof how) >= 0);
  printf("%d\n", syscall(SYS_openat2, AT_FDCWD, "../file", &how, sizeof how) >= 0);
  how.resolve = 8 | 32, how.flags = O_RDWR | O_CREAT;
  printf("%d\n", syscall(SYS_openat2, AT_FDCWD, "new", &how, sizeof how) >= 0);
}

/* What /proc and /dev say of open files, and ways through them. */
static void show_link(const char* form, int fd) {
  char name[300], text[600] = "", here[300];
  snprintf(name, sizeof name, form, fd);
  ssize_t length = readlink(name, text, sizeof text - 1);
  getcwd(here, sizeof here);
  size_t skip = strncmp(text, here, strlen(here)) == 0 ? strlen(here) : 0;
  printf("%ld: HERE%s\n", length < 0 ? -1 : (long)(length - (ssize_t)skip), text + skip);
  if (length < 0) printf("%s\n", strerrorname_np(errno));
}

static void paths(void) {
  mkdir("d", 0755);
  mkdir("d/e", 0755);
  int fd = make("d/file", "text"), below = open("d", O_RDONLY | O_DIRECTORY);
  show_link("/proc/self/fd/%d", fd);
  show_link("/dev/fd/%d", fd);
  show_link("/proc/self/fd/%d", below);
  show_link("/proc/self/fd/%d", dup(below));
  show_link("/proc/self/fd/%d/file", below);
  char name[100], text[200];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  SHOW(readlink(name, text, 5));
  char* resolved = realpath(name, NULL);
  printf("%s\n", resolved == NULL ? "none" : strrchr(resolved, '/'));
  snprintf(name, sizeof name, "/proc/self/fd/%d/file", below);
  struct stat st;
  SHOW(stat(name, &st));
  SHOW(st.st_size);
  SHOW(rename(name, "d/renamed"));
  snprintf(name, sizeof name, "/dev/fd/%d/../d/renamed", below);
  SHOW(open(name, O_RDONLY) >= 0);
  snprintf(name, sizeof name, "/proc/self/fd/%d/", below);
  SHOW(stat(name, &st));
  snprintf(name, sizeof name, "/proc/self/fd/%d/file", fd);
  SHOW(stat(name, &st));
  SHOW(rename("d/renamed", "d/file"));
  snprintf(name, sizeof name, "readlink /proc/self/fd/%d | sed 's,.*/,,'", fd);
  fflush(stdout);
  SHOW(system(name));
  SHOW(unlink("d/file"));
  show_link("/proc/self/fd/%d", fd);
  SHOW(rename("d/e", "d/f"));
  int moved = open("d/f", O_PATH);
  SHOW(rename("d/f", "g"));
  show_link("/proc/self/fd/%d", moved);
  key_t key = stat("g", &st) == 0 ? (key_t)(st.st_ino & 0xffff) : -1;
  SHOW((ftok("g", 'k') & 0xffff) == key);
  SHOW(ftok("g", 'k') >> 24 == 'k');
  SHOW(ftok("missing", 'k'));
  SHOW(mkfifo("fifo", 0640));
  int fifo = open("fifo", O_RDWR);
  ino_t number = stat("fifo", &st) == 0 ? st.st_ino : 0;
  dev_t device = st.st_dev;
  SHOW(fstat(fifo, &st));
  SHOW(st.st_ino == number && st.st_dev == device);
  printf("%o\n", st.st_mode);
  SHOW(fchmod(fifo, 0600));
  SHOW(fstatat(fifo, "", &st, AT_EMPTY_PATH));
  SHOW(st.st_ino == number);
  SHOW(stat("fifo", &st));
  printf("%o\n", st.st_mode);
  SHOW(unlink("fifo"));
  SHOW(fstat(dup(fifo), &st));
  SHOW(st.st_nlink);
  SHOW(st.st_ino == number);
}

/* A directory that lies deeper than any path can say. */
static void deep(void) {
  enum { kSteps = 60, kLength = 250 };
  char name[kLength + 1] = "", *large = malloc(PATH_MAX * 8L), *own;
  memset(name, 'd', kLength);
  size_t above = strlen(getcwd(large, PATH_MAX));
  int steps = 0;
  while (steps < kSteps && mkdir(name, 0755) == 0 && chdir(name) == 0) ++steps;
  SHOW(steps);
  SHOW(getcwd(large, PATH_MAX) != NULL);
  SHOW(getcwd(large, PATH_MAX * 8L) == large);
  SHOW(strlen(large) - above);
  SHOW((own = getcwd(NULL, 0)) != NULL && strcmp(own, large) == 0);
  free(own), free(large);
  while (steps > 0 && chdir("..") == 0 && rmdir(name) == 0) --steps;
  SHOW(steps);
}

/* wordexp, whose patterns are matched by the C library itself. */
static void words(void) {
  const char* all[] = {"*.c",
                       "plain '*.c' \"*.c\" \\*.c",
                       "a?c d*",
                       "[ab].c none* $WORD/*",
                       "x{$WORD}*",
                       "'it'*",
                       "\"d\"/*.c ~root",
                       "$(echo '*.c') ${NONE:-*.c}",
                       "$NONE",
                       "a b | c",
                       "'*",
                       "\"$(echo \"*.c\")\" \"'*.c'\" \"a'\"*.c",
                       "$[4*[2]] $[4*2]"};
  close(make("a.c", "")), close(make("b.c", "")), close(make("it's.c", "")), close(make("a c", ""));
  mkdir("d", 0755), close(make("d/e.c", "")), close(make("d/.hidden", ""));
  setenv("WORD", "d", 1);
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    wordexp_t found = {.we_offs = 1};
    int error = wordexp(all[i], &found, WRDE_DOOFFS);
    if (error == 0) error = wordexp("*.c", &found, WRDE_DOOFFS | WRDE_APPEND);
    printf("%s: %d", all[i], error);
    for (size_t k = 0; error == 0 && k < found.we_wordc; ++k)
      printf(" <%s>", found.we_wordv[k + 1]);
    printf("\n");
    if (error == 0) wordfree(&found);
  }
}

PARTS({"words", words}, {"paths", paths}, {"deep", deep}, {"controls", controls},
      {"asynchronous", asynchronous}, {"waits", waits}, {"opens", opens}, {"resolved", resolved})
