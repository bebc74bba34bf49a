/* threads_program SECONDS: threads open, close, fork and start programs, each in its own way, while
 * signals arrive. Prints what went wrong: nothing, on a covered directory as on a plain one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

enum {
  kOpening,
  kWriting,
  kClosing,
  kStream,
  kLocking,
  kForking,
  kShell,
  kSpawning,
  kPipe,
  kHandler,
  kKinds
};
static const char* const kNames[kKinds] = {"open", "write",  "close",       "fopen", "fcntl",
                                           "fork", "system", "posix_spawn", "popen", "handler"};
static atomic_int failures[kKinds];
static atomic_bool stop;

static void check(int kind, int fine) {
  if (!fine) ++failures[kind];
}

static int use_stream(const char* name) {
  FILE* stream = fopen(name, "a");
  return stream != NULL && fclose(stream) == 0;
}

static int lock(int fd) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_SETLK, &whole);
}

/* Does nothing else, so that forks meet it at that. */
static void* lock_and_stream(void* name) {
  while (!stop) {
    int fd = open(name, O_RDWR | O_CREAT, 0644);
    check(kLocking, lock(fd) == 0);
    check(kStream, use_stream(name));
    check(kClosing, close(fd) == 0);
  }
  return NULL;
}

/* One that waits for a thread of its parent waits for ever. */
static void give_up_later(void) {
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  alarm(30);
  sigprocmask(SIG_UNBLOCK, &alarms, NULL);
}

static void* work(void* seed) {
  unsigned chance = (unsigned)(size_t)seed;
  while (!stop) {
    char name[16];
    snprintf(name, sizeof name, "file%d", rand_r(&chance) % 8);
    int close_on_exec = rand_r(&chance) % 2 == 0 ? O_CLOEXEC : 0;
    int fd = open(name, O_RDWR | O_CREAT | close_on_exec, 0644);
    check(kOpening, fd >= 0);
    /* Others close the same file: its locks go, and no call fails. */
    check(kLocking, lock(fd) == 0);
    check(kWriting, write(fd, "ab", 2) == 2);
    check(kStream, use_stream(name));
    int other = dup(fd);
    if (rand_r(&chance) % 4 == 0) unlink(name);
    if (rand_r(&chance) % 16 == 0) {
      pid_t child = fork();
      if (child == 0) {
        give_up_later();
        if (close(other) != 0 || !use_stream(name)) _exit(1);
        int own = open(name, O_RDWR | O_CREAT, 0644);
        _exit(own < 0 || write(fd, "c", 1) != 1);
      }
      int status = -1;
      check(kForking, child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    if (rand_r(&chance) % 32 == 0) check(kShell, system("true") == 0);
    if (rand_r(&chance) % 32 == 0) {
      char* arguments[] = {"true", NULL};
      pid_t child = -1;
      int status = -1;
      check(kSpawning, posix_spawnp(&child, "true", NULL, NULL, arguments, environ) == 0 &&
                           waitpid(child, &status, 0) == child && status == 0);
    }
    if (rand_r(&chance) % 32 == 0) {
      FILE* pipe = popen("echo text", "r");
      char text[16] = "";
      check(kPipe, pipe != NULL && fgets(text, sizeof text, pipe) != NULL &&
                       strcmp(text, "text\n") == 0 && pclose(pipe) == 0);
    }
    check(kClosing, close(other) == 0 && close(fd) == 0);
  }
  return NULL;
}

static void arrive(int number) {
  (void)number;
  int before = errno, fd = open("signal", O_RDWR | O_CREAT, 0644);
  check(kHandler, fd >= 0 && write(fd, "s", 1) == 1 && close(fd) == 0);
  errno = before;
}

int main(int count, char** arguments) {
  struct sigaction interrupt, before, action = {.sa_handler = arrive, .sa_flags = SA_RESTART};
  sigaction(SIGINT, NULL, &before);
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, 5000}, {0, 5000}};
  setitimer(ITIMER_REAL, &every, NULL);
  /* Signals come here: one that finds a thread in malloc while another forks has its handler wait
   * for the fork, and the fork wait for malloc. */
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, NULL);
  pthread_t threads[6];
  for (size_t i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, (void*)(i + 1));
  pthread_create(&threads[4], NULL, lock_and_stream, "file8");
  pthread_create(&threads[5], NULL, lock_and_stream, "file9");
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
  struct timespec left = {count > 1 ? atoi(arguments[1]) : 2, 0};
  while (nanosleep(&left, &left) != 0) continue;
  stop = 1;
  for (size_t i = 0; i < 6; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kKinds; ++i) {
    if (failures[i] != 0) printf("%s failed %d times\n", kNames[i], failures[i]);
  }
  sigaction(SIGINT, NULL, &interrupt);
  printf("interrupt: %s\n", interrupt.sa_handler == before.sa_handler ? "as before" : "changed");
  return 0;
}
