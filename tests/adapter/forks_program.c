/* forks_program SECONDS: a thread that allocates memory, whose signal handler opens, writes and
 * closes covered files, while another thread forks. The fork waits for the allocator; it must hold
 * nothing then that the handler needs. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int over;
static volatile sig_atomic_t handled, wrong;

static void on_signal(int number) {
  (void)number;
  int fd = open("handled", O_RDWR | O_CREAT, 0600);
  int other = open("handled", O_RDONLY);
  if (fd < 0 || other < 0 || pwrite(fd, "x", 1, 0) != 1) wrong = 1;
  if (close(fd) != 0 || close(other) != 0) wrong = 2;
  ++handled;
}

static void* allocate(void* unused) {
  (void)unused;
  for (size_t i = 0; !over; ++i) {
    void* volatile blocks[8];
    for (size_t j = 0; j < 8; ++j) blocks[j] = malloc(2000 + (i * 8 + j) % 5000);
    for (size_t j = 0; j < 8; ++j) free(blocks[j]);
  }
  return NULL;
}

static void* interrupt(void* thread) {
  while (!over) {
    pthread_kill(*(pthread_t*)thread, SIGUSR1);
    usleep(20);
  }
  return NULL;
}

int main(int count, char** arguments) {
  time_t end = time(NULL) + (count > 1 ? atoi(arguments[1]) : 2);
  int kept = open("kept", O_RDWR | O_CREAT, 0600);
  struct sigaction action = {0};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  pthread_t allocating, interrupting;
  pthread_create(&allocating, NULL, allocate, NULL);
  pthread_create(&interrupting, NULL, interrupt, &allocating);
  long forks = 0;
  for (; time(NULL) < end && wrong == 0; ++forks) {
    pid_t child = fork();
    if (child == 0) {
      int fd = open("child", O_RDWR | O_CREAT, 0600);
      _exit(fd < 0 || write(kept, "c", 1) != 1 || close(fd) != 0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) wrong = 3;
  }
  over = 1;
  pthread_join(interrupting, NULL);
  pthread_join(allocating, NULL);
  printf("wrong %d, offset %d\n", wrong, lseek(kept, 0, SEEK_CUR) == forks);
  fprintf(stderr, "%ld forks, %d signals\n", forks, handled);
  return forks > 50 && handled > 100 && wrong == 0 ? 0 : 1;
}
