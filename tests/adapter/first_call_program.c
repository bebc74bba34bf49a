/* A program whose first call on a covered file is made by a signal handler, which has interrupted
 * malloc. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t called, failed;

static void on_alarm(int number) {
  int fd = open("first", O_WRONLY | O_CREAT | O_APPEND, 0600);
  failed = fd < 0 || write(fd, "x", 1) != 1 || close(fd) != 0;
  called = number;
}

static void* wait_for_ever(void* unused) {
  pause();
  return unused;
}

int main(void) {
  signal(SIGALRM, on_alarm);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  /* With a second thread, malloc takes its locks. */
  pthread_t thread;
  pthread_sigmask(SIG_BLOCK, &alarm, NULL);
  pthread_create(&thread, NULL, wait_for_ever, NULL);
  pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
  struct itimerval soon = {{0, 0}, {0, 300}};
  setitimer(ITIMER_REAL, &soon, NULL);
  while (!called) {
    void* volatile blocks[8];
    for (size_t i = 0; i < 8; ++i) blocks[i] = malloc(2000 + i * 500);
    for (size_t i = 0; i < 8; ++i) free(blocks[i]);
  }
  return failed;
}
