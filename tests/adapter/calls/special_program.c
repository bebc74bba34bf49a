/* FIFOs, sockets, files without a name, appends for once, walks that change the directory. One
 * paragraph per trap; see show.h. */
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

static void show_address(const char* what, const struct sockaddr_un* address, socklen_t size) {
  printf("%s: %u %s\n", what, size, size > 2 ? address->sun_path : "no name");
}

/* Names of sockets, as their own process and others are told them. */
static void addresses(void) {
  struct sockaddr_un address = named("server"), got = {0};
  int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
  SHOW(bind(server, (void*)&address, sizeof address));
  SHOW(listen(server, 2));
  socklen_t size = sizeof got;
  SHOW(getsockname(server, (void*)&got, &size));
  show_address("server", &got, size);
  SHOW(connect(client, (void*)&got, size));
  size = 6;
  memset(&got, 0, sizeof got);
  SHOW(getsockname(server, (void*)&got, &size));
  printf("cut: %u\n", size);
  size = sizeof got;
  SHOW(getpeername(client, (void*)&got, &size));
  show_address("peer", &got, size);
  size = sizeof got;
  int accepted = accept(server, (void*)&got, &size);
  show_address("accepted", &got, size);
  size = sizeof got;
  SHOW(getsockname(accepted, (void*)&got, &size));
  show_address("itself", &got, size);
  close(accepted), close(client);

  fflush(stdout);
  if (fork() == 0) {
    struct sockaddr_un mine;
    char here[100];
    memset(&mine, 'x', sizeof mine);
    mine.sun_family = AF_UNIX;
    snprintf(here, sizeof here, "client");
    memcpy(mine.sun_path, here, strlen(here) + 1);
    int from = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(from, (void*)&mine, offsetof(struct sockaddr_un, sun_path) + strlen(here));
    connect(from, (void*)&address, sizeof address);
    read(from, here, 1); /* until it has been seen */
    _exit(0);
  }
  memset(&got, 0, sizeof got);
  size = sizeof got;
  accepted = accept4(server, (void*)&got, &size, SOCK_CLOEXEC);
  show_address("from another process", &got, size);
  close(accepted), close(server);
  wait(NULL);
  unlink("server"), unlink("client");

  int to = socket(AF_UNIX, SOCK_DGRAM, 0), from = socket(AF_UNIX, SOCK_DGRAM, 0);
  struct sockaddr_un sender = named("sender"), receiver = named("receiver");
  SHOW(bind(to, (void*)&receiver, sizeof receiver));
  SHOW(bind(from, (void*)&sender, sizeof sender));
  for (int i = 0; i < 4; ++i) sendto(from, "text", 4, 0, (void*)&receiver, sizeof receiver);
  memset(&got, 0, sizeof got);
  size = sizeof got;
  SHOW(recvfrom(to, buffer, 10, 0, (void*)&got, &size));
  show_address("recvfrom", &got, size);
  SHOW(recvfrom(to, buffer, 10, 0, NULL, NULL));
  struct iovec bytes = {buffer, 10};
  struct mmsghdr message = {.msg_hdr = {.msg_name = &got, .msg_iov = &bytes, .msg_iovlen = 1}};
  memset(&got, 0, sizeof got);
  message.msg_hdr.msg_namelen = sizeof got;
  SHOW(recvmsg(to, &message.msg_hdr, 0));
  show_address("recvmsg", &got, message.msg_hdr.msg_namelen);
  memset(&got, 0, sizeof got);
  message.msg_hdr.msg_namelen = sizeof got;
  SHOW(recvmmsg(to, &message, 1, 0, NULL));
  show_address("recvmmsg", &got, message.msg_hdr.msg_namelen);
  SHOW(message.msg_len);
  close(to), close(from);
}

/* Descriptors in several messages of one call. */
static void carried(void) {
  enum { kMany = 3 };
  _Alignas(struct cmsghdr) char control[kMany][CMSG_SPACE(sizeof(int))] = {0};
  struct iovec bytes[kMany];
  struct mmsghdr messages[kMany] = {0};
  char texts[kMany][8];
  int pair[2];
  socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
  fflush(stdout);
  for (int sending = 1; sending >= 0; --sending) {
    for (int i = 0; i < kMany; ++i) {
      bytes[i] = (struct iovec){texts[i], 8};
      messages[i].msg_hdr = (struct msghdr){.msg_iov = &bytes[i],
                                            .msg_iovlen = 1,
                                            .msg_control = control[i],
                                            .msg_controllen = sizeof control[i]};
      if (!sending) continue;
      snprintf(texts[i], sizeof texts[i], "sent %d", i);
      int fd = make(texts[i], "");
      struct cmsghdr* header = (void*)control[i];
      *header = (struct cmsghdr){
          .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
      memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    if (sending) {
      SHOW(sendmmsg(pair[0], messages, kMany, 0));
    } else {
      memset(texts, 0, sizeof texts);
      SHOW(recvmmsg(pair[1], messages, kMany, 0, NULL));
    }
  }
  for (int i = 0; i < kMany; ++i) {
    int fd;
    memcpy(&fd, CMSG_DATA((struct cmsghdr*)(void*)control[i]), sizeof fd);
    SHOW(messages[i].msg_len);
    SHOW(write(fd, texts[i], 6));
    show_file(texts[i]);
  }
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

/* Unix addresses for sockets of other families: the kernel refuses the family and makes no name. */
static void families(void) {
  struct sockaddr_un here = named("here"), missing = named("missing/x");
  int local = socket(AF_UNIX, SOCK_DGRAM, 0);
  SHOW(bind(local, (void*)&here, sizeof here));
  const int kinds[][2] = {{AF_INET, SOCK_DGRAM}, {AF_INET, SOCK_STREAM}, {AF_INET6, SOCK_DGRAM}};
  for (int i = 0; i < 3; ++i) {
    printf("family %d type %d\n", kinds[i][0], kinds[i][1]);
    for (int k = 0; k < 3; ++k) {
      struct sockaddr_un to = k == 0 ? named("new") : k == 1 ? here : missing;
      int other = socket(kinds[i][0], kinds[i][1], 0);
      SHOW(bind(other, (void*)&to, sizeof to));
      SHOW(access("new", F_OK));
      SHOW(connect(other, (void*)&to, sizeof to));
      SHOW(sendto(other, "x", 1, MSG_NOSIGNAL, (void*)&to, sizeof to));
      struct iovec piece = {"x", 1};
      struct msghdr message = {
          .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &piece, .msg_iovlen = 1};
      SHOW(sendmsg(other, &message, MSG_NOSIGNAL));
      close(other);
    }
  }
  int file = open("f", O_RDWR | O_CREAT, 0644), ends[2];
  if (pipe(ends) != 0) exit(1);
  SHOW(bind(ends[0], (void*)&here, sizeof here));
  SHOW(bind(700, (void*)&here, sizeof here));
  SHOW(connect(ends[0], (void*)&here, sizeof here));
  SHOW(connect(700, (void*)&missing, sizeof missing));
  SHOW(connect(file, (void*)&missing, sizeof missing));
  SHOW(access("new", F_OK));
}

/* Every kind of descriptor, added to every kind. */
static void waited(void) {
  struct epoll_event event = {.events = EPOLLIN};
  int file = open("f", O_RDWR | O_CREAT, 0644), path = open("f", O_PATH), ends[2];
  int directory = open(".", O_RDONLY), epoll = epoll_create1(0), null = open("/dev/null", O_RDWR);
  int other = open("/proc/version", O_RDONLY), program = open("/bin/sh", O_RDONLY);
  if (pipe(ends) != 0) exit(1);
  const int all[] = {file,    path, directory, epoll, ends[0], null,
                     program, 700,  -1,        other, open("/bin/sh", O_PATH)};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
      printf("%zu in %zu\n", k, i);
      SHOW(epoll_ctl(all[i], EPOLL_CTL_ADD, all[k], &event));
      SHOW(epoll_ctl(all[i], EPOLL_CTL_MOD, all[k], &event));
      SHOW(epoll_ctl(all[i], EPOLL_CTL_DEL, all[k], NULL));
      SHOW(epoll_ctl(all[i], 77, all[k], &event));
    }
  }
}

PARTS({"families", families}, {"waited", waited}, {"fifos", fifos}, {"sockets", sockets},
      {"addresses", addresses}, {"carried", carried}, {"nameless", nameless}, {"once", once},
      {"walking", walking})
