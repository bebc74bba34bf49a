/* FIFOs, sockets, files without a name, appends for once, walks that change the directory. One paragraph
 * per trap; see show.h. */
#include <sys/un.h>

#include "show.h"

static void fifos(void) {
  SHOW(mkfifo("fifo", 0640));
  SHOW(mkfifo("fifo", 0640));
  struct stat st;
  SHOW(stat("fifo", &st));
  printf("mode %o\n", st.st_mode);
  SHOW(open("fifo", O_WRONLY | O_NONBLOCK));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    int out = open("fifo", O_WRONLY);
    _exit(write(out, "through the fifo", 16) == 16 ? 0 : 1);
  }
  int in = open("fifo", O_RDONLY);
  int status = -1;
  waitpid(child, &status, 0);
  printf("child %d\n", status);
  SHOW(read(in, buffer, 100));
  printf("%.16s\n", buffer);
  SHOW(read(in, buffer, 100));
  SHOW(lseek(in, 0, SEEK_SET));
  close(in);
  FILE* both = fopen("fifo", "r+");
  SHOW(fputs("line\n", both) >= 0);
  SHOW(fflush(both));
  SHOW(fgets(buffer, 100, both) != NULL);
  printf("%s", buffer);
  fclose(both);
  /* Renamed, it is the same one; a new one of the same name is another. */
  int old = open("fifo", O_RDWR | O_NONBLOCK);
  SHOW(rename("fifo", "moved"));
  int moved = open("moved", O_RDWR | O_NONBLOCK);
  SHOW(write(old, "x", 1));
  SHOW(read(moved, buffer, 10));
  SHOW(mkfifo("fifo", 0600));
  int fresh = open("fifo", O_RDWR | O_NONBLOCK);
  SHOW(write(old, "y", 1));
  SHOW(read(fresh, buffer, 10));
  SHOW(unlink("moved"));
  SHOW(read(moved, buffer, 10));
  SHOW(chmod("fifo", 0));
  SHOW(unlink("fifo"));
  SHOW(open("fifo", O_RDONLY | O_NONBLOCK));
  close(old), close(moved), close(fresh);
}

static struct sockaddr_un named(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  return address;
}

static void sockets(void) {
  struct sockaddr_un address = named("socket"), other = named("none"), file = named("file");
  int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
  close(make("file", ""));
  SHOW(connect(client, (void*)&other, sizeof other));
  SHOW(connect(client, (void*)&file, sizeof file));
  SHOW(bind(server, (void*)&address, sizeof address));
  SHOW(bind(client, (void*)&address, sizeof address));
  struct stat st;
  SHOW(stat("socket", &st));
  printf("type %o\n", st.st_mode & S_IFMT);
  SHOW(open("socket", O_RDWR));
  SHOW(connect(client, (void*)&address, sizeof address));
  SHOW(listen(server, 1));
  SHOW(connect(client, (void*)&address, sizeof address));
  int accepted = accept(server, NULL, NULL);
  SHOW(write(client, "hello", 5));
  SHOW(read(accepted, buffer, 10));
  close(client), close(accepted), close(server);
  client = socket(AF_UNIX, SOCK_STREAM, 0);
  SHOW(connect(client, (void*)&address, sizeof address));
  SHOW(unlink("socket"));
  SHOW(connect(client, (void*)&address, sizeof address));
  close(client);

  int to = socket(AF_UNIX, SOCK_DGRAM, 0), from = socket(AF_UNIX, SOCK_DGRAM, 0);
  SHOW(bind(to, (void*)&address, sizeof address));
  SHOW(sendto(from, "datagram", 8, 0, (void*)&address, sizeof address));
  struct iovec byte = {"message", 7};
  struct msghdr message = {
      .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &byte, .msg_iovlen = 1};
  SHOW(sendmsg(from, &message, 0));
  SHOW(recv(to, buffer, 100, 0));
  SHOW(recv(to, buffer, 100, 0));
  close(to), close(from);
  unlink("socket");
}

static void nameless(void) {
  int fd = open(".", O_TMPFILE | O_RDWR, 0640);
  SHOW(fd >= 0);
  SHOW(write(fd, "had no name", 11));
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  struct stat st;
  SHOW(fstat(fd, &st));
  printf("links %lu\n", (unsigned long)st.st_nlink);
  SHOW(linkat(AT_FDCWD, link, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
  SHOW(linkat(AT_FDCWD, link, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
  SHOW(linkat(fd, "", AT_FDCWD, "twice", AT_EMPTY_PATH));
  SHOW(fstat(fd, &st));
  printf("links %lu\n", (unsigned long)st.st_nlink);
  show_file("named");
  close(fd);
  show_file("twice");
  int never = open(".", O_TMPFILE | O_EXCL | O_RDWR, 0600);
  SHOW(linkat(never, "", AT_FDCWD, "never", AT_EMPTY_PATH));
  close(never);
  int gone = make("gone", "x");
  unlink("gone");
  SHOW(linkat(gone, "", AT_FDCWD, "back", AT_EMPTY_PATH));
  close(gone);
}

static void once(void) {
  int fd = make("once", "0123456789");
  struct iovec piece = {"abc", 3};
  SHOW(lseek(fd, 2, SEEK_SET));
  SHOW(pwritev2(fd, &piece, 1, 0, RWF_APPEND));
  SHOW(lseek(fd, 0, SEEK_CUR));
  SHOW(pwritev2(fd, &piece, 1, -1, RWF_APPEND));
  SHOW(lseek(fd, 0, SEEK_CUR));
  SHOW(pwritev2(fd, &piece, 1, 1, RWF_DSYNC));
  show_file("once");
  int ro = open("once", O_RDONLY);
  SHOW(pwritev2(ro, &piece, 1, 0, RWF_APPEND));
  close(fd), close(ro);
}

static int visit(const char* path, const struct stat* st, int type, struct FTW* where) {
  (void)st;
  char* here = getcwd(NULL, 0);
  struct stat self;
  printf("%s %d %d %s %d\n", path, type, where->level, strrchr(here, '/') + 1,
         stat(path + where->base, &self));
  free(here);
  errno = 0;
  return 0;
}

static void walking(void) {
  mkdir("tree", 0755), mkdir("tree/a", 0755);
  close(make("tree/a/f", "")), close(make("only", ""));
  SHOW(nftw("tree", visit, 4, FTW_PHYS | FTW_CHDIR | FTW_DEPTH));
  SHOW(nftw("tree/a", visit, 4, FTW_PHYS | FTW_CHDIR));
  SHOW(nftw("only", visit, 4, FTW_CHDIR));
  SHOW(access("tree/a/f", R_OK));
}

PARTS({"fifos", fifos}, {"sockets", sockets}, {"nameless", nameless}, {"once", once},
      {"walking", walking})
