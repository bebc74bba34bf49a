/* Mappings, locks, waiting. One paragraph per trap; see show.h. */
#include "show.h"

static void mappings(void) {
  int fd = make("map", "mapped");
  ftruncate(fd, 20000);
  char* p = mmap(NULL, 20000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  SHOW(p != MAP_FAILED);
  memcpy(p + 8000, "hole", 4);
  SHOW(pread(fd, buffer, 4, 8000));
  printf("%.4s\n", buffer);
  SHOW(pwrite(fd, "written", 7, 12288));
  printf("%.7s\n", p + 12288);
  SHOW(msync(p, 20000, MS_SYNC));
  SHOW(msync(p + 1, 10, MS_SYNC));
  char* q = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 8192);
  q[0] = '!';
  SHOW(pread(fd, buffer, 1, 8192));
  SHOW(buffer[0]);
  SHOW(munmap(p + 4096, 4096));
  SHOW(close(fd));
  printf("%.6s\n", p);
  p[0] = 'M';
  SHOW(munmap(p, 20000));
  show_file("map");
  SHOW(munmap(q, 4096));
  fd = open("map", O_RDWR);
  p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char* moved = mremap(p, 4096, 16384, MREMAP_MAYMOVE);
  SHOW(moved != MAP_FAILED);
  printf("%.4s\n", moved + 8000);
  if (fork() == 0) {
    memcpy(moved + 100, "child", 5);
    _exit(0);
  }
  wait(NULL);
  printf("%.5s\n", moved + 100);
  SHOW(madvise(moved, 4096, MADV_REMOVE));
  SHOW(moved[100]);
  SHOW(pread(fd, buffer, 200, 0));
  SHOW(buffer[100]);
  SHOW(madvise(moved + 1, 4096, MADV_REMOVE));
  SHOW(munmap(moved, 16384));
  int ro = open("map", O_RDONLY);
  SHOW((long)mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, ro, 0));
  SHOW((long)mmap(NULL, 0, PROT_READ, MAP_SHARED, ro, 0));
  SHOW((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, ro, 1));
  SHOW((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, open(".", O_RDONLY), 0));
}

static sigjmp_buf back;
static void jump(int number) { siglongjmp(back, number); }

/* The signal that a touch raises. */
static int touch(volatile char* at) {
  int number = sigsetjmp(back, 1);
  if (number == 0) *at = *at;
  return number;
}

/* A mapping that is longer than its file follows its growth, here and in other processes. */
static void growing_as(int type) {
  int fd = make("grow", "small"), ends[2];
  signal(SIGBUS, jump);
  signal(SIGSEGV, jump);
  char* p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, type, fd, 0);
  SHOW(touch(p + 4000));
  SHOW(touch(p + 4096));
  SHOW(ftruncate(fd, 10000));
  SHOW(touch(p + 8192));
  SHOW(touch(p + 12288));
  SHOW(pwrite(fd, "further", 7, 20000));
  SHOW(pipe(ends));
  SHOW(write(ends[1], p + 20000, 7));
  printf("%.7s\n", p + 20000);
  SHOW(mprotect(p + 65536, 4096, PROT_READ));
  fflush(stdout);
  if (fork() == 0) _exit(pwrite(fd, "from a child", 12, 70000) != 12);
  wait(NULL);
  printf("%.12s\n", p + 70000);
  SHOW(touch(p + 65536));
  SHOW(touch(p + 4096 * 18));
  SHOW(mprotect(p, 1 << 20, PROT_READ | PROT_WRITE));
  if (fork() == 0) _exit(truncate("grow", 100000));
  wait(NULL);
  p[90000] = 'P';
  SHOW(pread(fd, buffer, 1, 90000));
  SHOW(buffer[0]);
  char* late = mmap(NULL, 8192, PROT_READ, type, fd, 1 << 20);
  SHOW(touch(late));
  SHOW(pwrite(fd, "late", 4, (1 << 20) + 4096));
  printf("%.4s\n", late + 4096);
  SHOW(munmap(late, 8192));
  SHOW(ftruncate(fd, 2000000));
  SHOW(munmap(p, 1 << 20));
  SHOW(signal(SIGBUS, SIG_DFL) == jump);
  SHOW(signal(SIGBUS, SIG_IGN) == SIG_DFL);
  SHOW(raise(SIGBUS));
  SHOW(signal(SIGBUS, SIG_DFL) == SIG_IGN);
  fflush(stdout);
  p = mmap(NULL, 3000000, PROT_READ, type, fd, 0);
  for (int how = 0; how < 2; ++how) {
    int status;
    pid_t child = fork();
    if (child == 0) setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (child == 0) _exit(how == 0 ? p[2500000] : raise(SIGBUS));
    waitpid(child, &status, 0);
    SHOW(WTERMSIG(status));
  }
  SHOW(munmap(p, 3000000));
  close(fd);
}

static void growing(void) {
  growing_as(MAP_SHARED);
  growing_as(MAP_PRIVATE);
}

/* A call that fails leaves the mapping that it would have replaced. */
static void replacing(void) {
  int fd = make("replace", "replaced"), ro = open("replace", O_RDONLY);
  char* p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
  SHOW((long)mmap(p, 4096, PROT_WRITE, MAP_SHARED | MAP_FIXED, ro, 0));
  SHOW((long)mmap(p, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, -1, 0));
  SHOW((long)mmap(p, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 1));
  SHOW((long)mmap(p + 1, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0));
  printf("%.8s\n", p);
  SHOW((long)mremap(p, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, p + 4096));
  SHOW((long)mremap(p, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, p));
  SHOW((long)mremap(p, 4096, 4096, MREMAP_FIXED, p + 8192));
  SHOW((long)mremap(p, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, p + 1));
  SHOW((long)mremap(p, 4096, 8192, 64, NULL));
  printf("%.8s\n", p);
  char* other =
      mmap(p, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  SHOW(other == p && p[0] == 0);
  other[0] = '!';
  SHOW(munmap(p, 8192));
  show_file("replace");
}

static void protecting(void) {
  int fd = make("protect", "0123456789");
  ftruncate(fd, 16384);
  int ro = open("protect", O_RDONLY);
  char* p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, ro, 0);
  SHOW(mprotect(p, 8192, PROT_READ | PROT_WRITE));
  SHOW(mprotect(p, 4096, PROT_NONE));
  SHOW(mprotect(p, 4096, PROT_READ));
  SHOW(p[0]);
  SHOW(munmap(p, 8192));
  p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, ro, 0);
  SHOW(mprotect(p, 4096, PROT_READ | PROT_WRITE));
  p[0] = 'p';
  SHOW(munmap(p, 4096));
  p = mmap(NULL, 16384, PROT_NONE, MAP_SHARED, fd, 0);
  SHOW(mprotect(p + 4096, 4096, PROT_READ | PROT_WRITE));
  p[5000] = 'P';
  SHOW(pread(fd, buffer, 1, 5000));
  SHOW(buffer[0]);
  SHOW(mprotect(p, 16384, PROT_READ | PROT_WRITE));
  /* The protection goes with a mapping that moves. */
  char* moved = mremap(p, 16384, 32768, MREMAP_MAYMOVE);
  SHOW(moved != MAP_FAILED);
  moved[1] = 'm';
  SHOW(mprotect(moved + 1, 4096, PROT_READ));
  SHOW(munmap(moved, 32768));
  show_file("protect");
}

static void* wait_for_lock(void* fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10};
  return (void*)(long)fcntl((int)(long)fd, F_OFD_SETLKW, &lock);
}

static void locking(void) {
  int fd = make("lock", "0123456789");
  int other = open("lock", O_RDWR);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -5, .l_len = 3};
  SHOW(fcntl(fd, F_SETLK, &lock));
  pid_t child = fork();
  if (child == 0) {
    struct flock asked = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    SHOW(fcntl(fd, F_GETLK, &asked));
    printf("type %d start %ld length %ld mine %d\n", asked.l_type, (long)asked.l_start,
           (long)asked.l_len, asked.l_pid == getppid());
    asked = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 6, .l_len = 1};
    SHOW(fcntl(other, F_SETLK, &asked));
    fflush(stdout), _exit(0);
  }
  waitpid(child, NULL, 0);
  /* Closing any descriptor of the file drops the process's locks. */
  close(open("lock", O_RDONLY));
  fflush(stdout);
  if (fork() == 0) {
    struct flock asked = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    SHOW(fcntl(fd, F_SETLK, &asked));
    fflush(stdout), _exit(0);
  }
  wait(NULL);
  SHOW(flock(fd, LOCK_EX));
  SHOW(flock(other, LOCK_SH | LOCK_NB));
  int shared = dup(fd);
  SHOW(close(fd));
  SHOW(flock(other, LOCK_SH | LOCK_NB));
  SHOW(close(shared));
  SHOW(flock(other, LOCK_SH | LOCK_NB));
  fd = open("lock", O_RDWR);
  struct flock of_description = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10};
  SHOW(fcntl(fd, F_OFD_SETLK, &of_description));
  SHOW(fcntl(other, F_OFD_SETLK, &of_description));
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_lock, (void*)(long)other);
  usleep(10000);
  of_description.l_type = F_UNLCK;
  SHOW(fcntl(fd, F_OFD_SETLK, &of_description));
  void* got;
  pthread_join(thread, &got);
  printf("waited %ld\n", (long)got);
  SHOW(lseek(fd, 2, SEEK_SET));
  SHOW(lockf(fd, F_TLOCK, 4));
  SHOW(lockf(fd, F_ULOCK, 4));
  int ro = open("lock", O_RDONLY);
  lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
  SHOW(fcntl(ro, F_SETLK, &lock));
  /* A lock taken by a child on the description stays with the parent. */
  close(fd), close(other);
  fd = open("lock", O_RDWR);
  fflush(stdout);
  if (fork() == 0) _exit(flock(fd, LOCK_EX) != 0);
  int status;
  wait(&status);
  SHOW(status);
  SHOW(flock(ro, LOCK_EX | LOCK_NB));
}

static void waiting(void) {
  int fd = make("poll", "x"), ends[2];
  if (pipe(ends) != 0) return;
  struct pollfd fds[2] = {{fd, POLLIN | POLLOUT, 0}, {ends[0], POLLIN, 0}};
  SHOW(poll(fds, 2, 1000));
  printf("%x %x\n", fds[0].revents, fds[1].revents);
  write(ends[1], "x", 1);
  SHOW(ppoll(fds, 2, NULL, NULL));
  fd_set readers, writers;
  FD_ZERO(&readers);
  FD_ZERO(&writers);
  FD_SET(fd, &readers), FD_SET(ends[0], &readers), FD_SET(fd, &writers);
  SHOW(select(fd + 10, &readers, &writers, NULL, NULL));
  SHOW(FD_ISSET(fd, &readers) + FD_ISSET(ends[0], &readers) + FD_ISSET(fd, &writers));
  struct epoll_event event = {.events = EPOLLIN};
  SHOW(epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, fd, &event));
  struct aiocb request = {.aio_fildes = fd, .aio_buf = "async", .aio_nbytes = 5, .aio_offset = 1};
  SHOW(aio_write(&request));
  const struct aiocb* list[] = {&request};
  SHOW(aio_suspend(list, 1, NULL));
  SHOW(aio_error(&request));
  SHOW(aio_return(&request));
  show_file("poll");
}

/* F_TEST against the locks of another process. */
static void testing(void) {
  int fd = make("tested", "0123456789");
  const int types[] = {F_RDLCK, F_WRLCK};
  for (int i = 0; i < 2; ++i) {
    struct flock lock = {.l_type = (short)types[i], .l_whence = SEEK_SET, .l_start = 2, .l_len = 3};
    SHOW(fcntl(fd, F_SETLK, &lock));
    SHOW(lockf(fd, F_TEST, 0));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      int own = open("tested", O_RDWR), ro = open("tested", O_RDONLY);
      SHOW(lockf(own, F_TEST, 0));
      SHOW(lockf(own, F_TEST, 2));
      SHOW(lockf(ro, F_TEST, 0));
      SHOW(lockf(own, F_TLOCK, 0));
      SHOW(lockf(ro, F_TLOCK, 1));
      fflush(stdout);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  close(fd);
}

PARTS({"mappings", mappings}, {"growing", growing}, {"replacing", replacing},
      {"protecting", protecting}, {"locking", locking}, {"testing", testing}, {"waiting", waiting})
