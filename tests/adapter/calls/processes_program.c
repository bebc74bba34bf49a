/* Children and the programs that they become. One paragraph per trap; see show.h. */
#include "show.h"

static void processes(void) {
  int fd = make("shared", "");
  fflush(stdout);
  if (fork() == 0) _exit(write(fd, "child ", 6) != 6);
  wait(NULL);
  SHOW(write(fd, "parent ", 7));
  if (vfork() == 0) {
    execl("/bin/sh", "sh", "-c", "echo exec >&$0", (char[]){(char)('0' + fd), '\0'}, (char*)NULL);
    _exit(1);
  }
  wait(NULL);
  pid_t pid;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fd, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "spawned", O_CREAT | O_WRONLY, 0644);
  char* arguments[] = {
      "sh", "-c", "echo spawn; echo error >&2; cat missing-file 2>/dev/null || pwd | wc -l", NULL};
  SHOW(posix_spawnp(&pid, "sh", &actions, NULL, arguments, environ));
  int status;
  waitpid(pid, &status, 0);
  SHOW(status);
  show_file("shared");
  show_file("spawned");
  close(make("commands", "echo commands\n"));
  chmod("commands", 0755);
  SHOW(posix_spawnp(&pid, "./commands", NULL, NULL, (char*[]){"commands", NULL}, environ));
  SHOW(posix_spawn(&pid, "./missing", NULL, NULL, arguments, environ));
  SHOW(system("test -f shared"));
  FILE* pipe = popen("cat shared | wc -l", "r");
  int lines = 0;
  SHOW(fscanf(pipe, "%d", &lines));
  SHOW(pclose(pipe));
  SHOW(lines);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  snprintf(buffer, sizeof buffer, "exec 2>/dev/null; echo x >&%d", fd);
  SHOW(system(buffer) != 0);
  SHOW(execl("./shared", "shared", (char*)NULL));
  SHOW(execl("./missing", "missing", (char*)NULL));
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  fflush(stdout);
  if (fork() == 0) {
    int sent = open("sent", O_RDWR | O_CREAT, 0644);
    union {
      struct cmsghdr header;
      char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec byte = {"x", 1};
    struct msghdr message = {.msg_iov = &byte,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &sent, sizeof sent);
    sendmsg(pair[0], &message, 0);
    read(pair[0], buffer, 1); /* until it has been taken */
    _exit(0);
  }
  char control[CMSG_SPACE(sizeof(int))];
  struct iovec byte = {buffer, 1};
  struct msghdr message = {
      .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  SHOW(recvmsg(pair[1], &message, 0));
  int received;
  memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
  SHOW(write(received, "through a socket", 16));
  write(pair[1], "x", 1);
  wait(NULL);
  show_file("sent");
}

/* A program that inherits more files than a process usually has: the first and the last, twice
 * open. */
static void many(void) {
  enum { kMany = 3000 };
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
  setrlimit(RLIMIT_NOFILE, &limit);
  int first = -1, last = -1, count = 0;
  for (; count < kMany; ++count) {
    snprintf(buffer, 32, "file %d", count);
    int fd = open(buffer, O_RDWR | O_CREAT, 0644);
    if (fd < 0) break;
    if (first < 0) first = fd;
    last = fd;
  }
  SHOW(count);
  int again = dup(last);
  char first_text[16], last_text[16], again_text[16];
  snprintf(first_text, sizeof first_text, "%d", first);
  snprintf(last_text, sizeof last_text, "%d", last);
  snprintf(again_text, sizeof again_text, "%d", again);
  fflush(stdout);
  if (fork() == 0) {
    execlp("bash", "bash", "-c", "echo first >&$0; echo last >&$1; echo again >&$2", first_text,
           last_text, again_text, (char*)NULL);
    _exit(1);
  }
  int status = -1;
  wait(&status);
  SHOW(status);
  show_file("file 0");
  show_file(buffer);
  if (chdir("..") != 0 || system("rm -r many") != 0 || mkdir("many", 0755) != 0 ||
      chdir("many") != 0)
    printf("files are left\n");
}

/* A program that has used up its descriptors: what needs none goes on. */
static void exhausted(void) {
  int fd = make("exhausted", "text\n"), other = make("other", "other"), status;
  fflush(stdout);
  pid_t child = fork();
  if (child != 0) {
    waitpid(child, &status, 0);
    SHOW(status);
    SHOW(close(fd));
    SHOW(close(other));
    return;
  }
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 64;
  setrlimit(RLIMIT_NOFILE, &limit);
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) {
  }
  SHOW(open("other", O_RDONLY));
  SHOW(dup(fd));
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  SHOW(fcntl(fd, F_SETLK, &lock));
  SHOW(flock(fd, LOCK_EX));
  char* p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  SHOW(p != MAP_FAILED);
  SHOW(ftruncate(fd, 5000));
  SHOW(p[4999]);
  SHOW(munmap(p, 8192));
  getrlimit(RLIMIT_NOFILE, &limit);
  SHOW(limit.rlim_cur);
  fflush(stdout);
  if (fork() == 0) {
    SHOW(lseek(fd, 0, SEEK_SET));
    dup2(fd, 0);
    fflush(stdout);
    execlp("head", "head", "-n1", (char*)NULL);
    printf("%s\n", strerror(errno)), fflush(stdout);
    _exit(1);
  }
  SHOW(wait(&status) > 0);
  SHOW(status);
  fflush(stdout);
  _exit(0);
}

/* Files below the limit to their size, which the pool that they lie in is above. */
static void limited(void) {
  int fd = make("before", "text");
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 1 << 20;
  SHOW(setrlimit(RLIMIT_FSIZE, &limit));
  for (int i = 0; i < 8; ++i) SHOW(pwrite(fd, buffer, sizeof buffer, (long)i * sizeof buffer));
  SHOW(ftruncate(fd, 1 << 20));
  SHOW(posix_fallocate(fd, 0, 1 << 20));
  SHOW(close(fd));
  for (int i = 0; i < 8; ++i) {
    char name[] = {'0' + i, '\0'};
    fd = open(name, O_CREAT | O_RDWR, 0644);
    for (int j = 0; j < 15; ++j) write(fd, buffer, sizeof buffer);
    SHOW(lseek(fd, 0, SEEK_END));
    close(fd);
  }
  SHOW(system("cat 0 > again; cmp 0 again"));
  limit.rlim_cur = limit.rlim_max;
  SHOW(prlimit(0, RLIMIT_FSIZE, &limit, NULL));
}

PARTS({"limited", limited}, {"exhausted", exhausted}, {"processes", processes}, {"many", many})
