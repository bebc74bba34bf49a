/* Processes that become other users before they touch a file of the given directory, as daemons do.
 * See show.h.
 *
 *   users_program PART DIRECTORY
 *
 * The working directory is another one. Only root can become another user: for others both runs end
 * immediately. */
#include <dlfcn.h>
#include <grp.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "show.h"

enum { kUser = 65534 };

static const char* directory;

static const char* in(const char* name) {
  static char paths[4][PATH_MAX];
  static int next;
  char* path = paths[next++ % 4];
  snprintf(path, PATH_MAX, "%s/%s", directory, name);
  return path;
}

static void show_open(const char* name, int flags) {
  int fd = open(in(name), flags, 0644);
  printf("%s %#x: %s\n", name, flags, fd >= 0 ? "open" : strerrorname_np(errno));
  if (fd >= 0) close(fd);
}

static void show_owner(const char* name) {
  struct stat st;
  if (lstat(in(name), &st) != 0) perror(name);
  printf("%s: %o of %d:%d\n", name, (int)st.st_mode, (int)st.st_uid, (int)st.st_gid);
}

/* What a process may do to files of all kinds. */
static void work(const char* own) {
  show_file(in("readable"));
  show_open("private", O_RDONLY);
  show_open("readable", O_WRONLY);
  show_open("closed/inside", O_RDONLY);
  int fd = open(in(own), O_RDWR | O_CREAT, 0640);
  SHOW(fd >= 0);
  SHOW(write(fd, own, strlen(own)));
  show_owner(own);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  SHOW(fcntl(fd, F_SETLK, &lock));
  SHOW(flock(fd, LOCK_EX | LOCK_NB));
  SHOW(ftruncate(fd, 8192));
  char* mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  SHOW(mapped != MAP_FAILED);
  if (mapped != MAP_FAILED) {
    mapped[5000] = 'x';
    SHOW(pread(fd, buffer, 1, 5000) == 1 && buffer[0] == 'x');
    SHOW(munmap(mapped, 8192));
  }
  close(fd);
  SHOW(chmod(in(own), 0600));
  SHOW(chmod(in("readable"), 0600));
  SHOW(unlink(in("closed/inside")));
}

static void wait_for(pid_t child) {
  int status = 0;
  fflush(stdout);
  if (waitpid(child, &status, 0) != child || status != 0) printf("child: %#x\n", status);
}

/* The same in a child, and in that one's. */
static void work_in_children(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    work("of-child");
    fflush(stdout);
    pid_t deeper = fork();
    if (deeper == 0) {
      work("of-grandchild");
      fflush(stdout);
      _exit(0);
    }
    wait_for(deeper);
    work("of-child");
    fflush(stdout);
    _exit(0);
  }
  wait_for(child);
}

static void* read_in_thread(void* barrier) {
  int fd = open(in("readable"), O_RDONLY);
  pthread_barrier_wait(barrier);
  long good = pread(fd, buffer, 4, 0) == 4;
  close(fd);
  pthread_barrier_wait(barrier);
  return (void*)good;
}

/* More threads than have room in one place of the pool's. */
static void work_in_threads(void) {
  enum { kThreads = 40 };
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, kThreads);
  pthread_t threads[kThreads];
  long good = 0;
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, read_in_thread, &barrier);
  for (int i = 0; i < kThreads; ++i) {
    void* result;
    pthread_join(threads[i], &result);
    good += (long)result;
  }
  printf("%ld threads have read\n", good);
}

static void dropped(void) {
  SHOW(setgroups(0, NULL));
  SHOW(setgid(kUser));
  SHOW(setuid(kUser));
  work("first");
  work_in_children();
  work_in_threads();
  work("first");
  SHOW(setuid(0));
}

static void dropped_in_two_steps(void) {
  SHOW(seteuid(kUser));
  SHOW(setresuid(kUser, kUser, kUser));
  work("two-steps");
  work_in_children();
}

static void dropped_by_number(void) {
  SHOW(syscall(SYS_setresuid, kUser, kUser, kUser));
  work("by-number");
  work_in_children();
}

static void back(void) {
  SHOW(seteuid(kUser));
  work("effective");
  work_in_children();
  work_in_threads();
  SHOW(seteuid(0));
  work("root-again");
  work_in_children();
  SHOW(setreuid(kUser, kUser));
  work("in-the-end");
  work_in_children();
}

/* Files that are open before. */
static void kept(void) {
  int fd = open(in("private"), O_RDWR);
  SHOW(setuid(kUser));
  SHOW(pread(fd, buffer, 7, 0));
  SHOW(pwrite(fd, "PRIVATE", 7, 0));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    SHOW(pread(fd, buffer, 7, 0));
    printf("%.7s\n", buffer);
    fflush(stdout);
    _exit(0);
  }
  wait_for(child);
  work("kept");
}

static int address_of(const char* name, struct sockaddr_un* address) {
  address->sun_family = AF_UNIX;
  return snprintf(address->sun_path, sizeof address->sun_path, "%s", in(name)) >=
         (int)sizeof address->sun_path;
}

static void talk(const char* fifo, const char* name) {
  int fd = open(in(fifo), O_RDWR);
  SHOW(fd >= 0);
  SHOW(write(fd, "through", 7));
  SHOW(read(fd, buffer, 7));
  close(fd);
  struct sockaddr_un address = {0};
  if (address_of(name, &address) != 0) return;
  int to = socket(AF_UNIX, SOCK_STREAM, 0);
  SHOW(connect(to, (struct sockaddr*)&address, sizeof address));
  close(to);
}

static int make_both(const char* fifo, const char* name) {
  struct sockaddr_un address = {0};
  if (address_of(name, &address) != 0) return -1;
  SHOW(mkfifo(in(fifo), 0666));
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  SHOW(bind(listener, (struct sockaddr*)&address, sizeof address));
  SHOW(listen(listener, 9));
  talk(fifo, name);
  struct sockaddr_un shown = {0};
  socklen_t size = sizeof shown;
  SHOW(getsockname(listener, (struct sockaddr*)&shown, &size));
  SHOW(strcmp(shown.sun_path, address.sun_path));
  return listener;
}

/* FIFOs and sockets of all users whom the process was. */
static void special(void) {
  umask(0);
  int first = make_both("fifo", "socket");
  SHOW(chmod(in("socket"), 0777));
  SHOW(mkfifo(in("closed-fifo"), 0600));
  SHOW(seteuid(kUser));
  talk("fifo", "socket");
  show_open("closed-fifo", O_RDWR);
  int second = make_both("fifo2", "socket2");
  SHOW(seteuid(0));
  talk("fifo2", "socket2");
  SHOW(setuid(kUser));
  talk("fifo", "socket");
  talk("fifo2", "socket2");
  show_open("closed-fifo", O_RDWR);
  int third = make_both("fifo3", "socket3");
  SHOW(unlink(in("fifo3")));
  SHOW(unlink(in("socket3")));
  close(first), close(second), close(third);
}

/* Many that come and go, of what a process has only so many of. */
static void many(void) {
  SHOW(setuid(kUser));
  int good = 0;
  for (int i = 0; i < 60; ++i) {
    pid_t child = fork();
    if (child == 0) _exit(access(in("readable"), R_OK) == 0 ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    good += status == 0;
  }
  printf("%d children\n", good);
  int fd = open(in("readable"), O_RDONLY);
  for (good = 0; good < 60; ++good) {
    char* mapped = mmap(NULL, 4, PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED || mapped[0] != 'r' || munmap(mapped, 4) != 0) break;
  }
  printf("%d mappings\n", good);
}

/* More children than a process may have that cannot become root again. */
static void too_many(void) {
  SHOW(setuid(kUser));
  int good = 0, refused = 0, others = 0;
  for (int i = 0; i < 300; ++i) {
    pid_t child = fork();
    if (child == 0) {
      int fd = open(in("readable"), O_RDONLY);
      _exit(fd >= 0 && read(fd, buffer, 4) == 4 ? 0 : errno);
    }
    int status = 1;
    waitpid(child, &status, 0);
    good += status == 0;
    refused += WIFEXITED(status) && WEXITSTATUS(status) == EIO;
    others += status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == EIO);
  }
  printf("most: %d, some are refused: %d, others: %d\n", good > 200, refused > 0, others);
  show_file(in("readable"));
}

/* By the C library's own function a process changes its user unseen. Files that it could not reach
 * then, it reaches as root. */
static void unseen(void) {
  void* library = dlopen("libc.so.6", RTLD_LAZY);
  int (*change)(uid_t) = NULL;
  *(void**)&change = library == NULL ? NULL : dlsym(library, "seteuid");
  if (change == NULL) exit(1);
  SHOW(change(kUser));
  for (int i = 0; i < 3; ++i) close(open(in("readable"), O_RDONLY));
  SHOW(change(0));
  work("of-unseen");
  work_in_children();
}

static void make_files(void) {
  SHOW(chmod(directory, 0777));
  mkdir(in("closed"), 0700);
  close(make(in("closed/inside"), "inside"));
  close(make(in("readable"), "readable"));
  close(make(in("private"), "private"));
  SHOW(chmod(in("private"), 0600));
}

int main(int count, char** arguments) {
  if (count < 3) return 1;
  if (getuid() != 0) return 0;
  directory = arguments[2];
  const struct part parts[] = {{"files", make_files},
                               {"dropped", dropped},
                               {"steps", dropped_in_two_steps},
                               {"number", dropped_by_number},
                               {"back", back},
                               {"kept", kept},
                               {"special", special},
                               {"many", many},
                               {"too-many", too_many},
                               {"unseen", unseen}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
    if (strcmp(arguments[1], parts[i].name) == 0) parts[i].run();
  return 0;
}
