/* signals_program SECONDS: a process whose signal handlers open, write, rename and remove files,
 * while it does the same to the same files. A handler that ran inside an unfinished change would
 * wait for the interrupted call for ever; then no line is printed, and the test's time limit ends
 * it.
 *
 * In each round a timer fires after a few microseconds, and a child sends a signal when it sees the
 * round begin: no instant is spared, and no round is starved. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled, wrong, in_alarm;
static volatile int once;
static int log_fd;

/* One round of changes under two names that the handler and the program share. */
static void change(const char* mine) {
  int fd = open(mine, O_RDWR | O_CREAT, 0600);
  if (fd < 0) wrong = 1;
  if (write(fd, mine, 1) != 1) wrong = 2;
  if (ftruncate(fd, 5000) != 0 || ftruncate(fd, 10) != 0) wrong = 3;
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_size != 10) wrong = 4;
  if (rename(mine, "shared") != 0) wrong = 5;
  if (link("shared", "other") != 0 && errno != EEXIST) wrong = 6;
  if (unlink("other") != 0 && errno != ENOENT) wrong = 7;
  if (close(fd) != 0) wrong = 8;
}

static void on_signal(int number) {
  int before = errno;
  /* SIGALRM may come between the load and the store of a plain increment. */
  __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
  if (in_alarm) wrong = 9; /* the mask keeps both away from SIGALRM's handler */
  if (number == SIGALRM) in_alarm = 1;
  change(number == SIGALRM ? "alarm" : "user");
  if (write(log_fd, "x", 1) != 1)
    wrong = 10; /* the very descriptor that may be written right now */
  if (number == SIGALRM) in_alarm = 0;
  errno = before;
}

static void on_info(int number, siginfo_t* info, void* context) {
  (void)context;
  if (number != SIGUSR1 || info->si_code != SI_USER || info->si_pid <= 0) wrong = 11;
  on_signal(number);
}

static void on_once(int number) {
  (void)number;
  ++once;
}

static void expect(const char* what, int holds) {
  if (holds) return;
  printf("%s: does not hold\n", what);
  exit(1);
}

/* What sigaction and signal say is what was installed. */
static void check_interface(void) {
  struct sigaction action = {0}, old;
  action.sa_handler = on_once;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(SIGWINCH, &action, NULL);
  sigaction(SIGWINCH, NULL, &old);
  expect("the handler is the program's", old.sa_handler == on_once);
  expect("the flags are the program's",
         (old.sa_flags & ~0x04000000) == action.sa_flags) /* SA_RESTORER */;
  expect("the mask is the program's",
         sigismember(&old.sa_mask, SIGUSR2) == 1 && sigismember(&old.sa_mask, SIGALRM) == 0);
  raise(SIGWINCH);
  raise(SIGWINCH);
  expect("once is once", once == 1);
  sigaction(SIGWINCH, NULL, &old);
  expect("it is the default again", old.sa_handler == SIG_DFL);
  /* As the kernel leaves them. */
  expect("the flags of once stay", (old.sa_flags & ~0x04000000) == action.sa_flags);
  expect("the mask of once stays", sigismember(&old.sa_mask, SIGUSR2) == 1);
  expect("signal gives the old one", signal(SIGWINCH, on_once) == SIG_DFL);
  expect("signal gives ours", signal(SIGWINCH, SIG_IGN) == on_once);
  expect("signal gives SIG_IGN", signal(SIGWINCH, SIG_DFL) == SIG_IGN);
  expect("no such signal", signal(1000, on_once) == SIG_ERR && errno == EINVAL);
}

int main(int count, char** arguments) {
  time_t end = time(NULL) + (count > 1 ? atoi(arguments[1]) : 2);
  log_fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
  expect("log", log_fd >= 0);
  check_interface();
  struct sigaction action = {0};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGALRM, &action, NULL);
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = on_info;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGUSR1, &action, NULL);

  volatile long* round =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    for (long seen = 0; getppid() == parent; seen = *round) {
      while (*round == seen && getppid() == parent) sched_yield();
      kill(parent, SIGUSR1);
    }
    _exit(0);
  }
  long rounds = 0, lines = 0;
  while (time(NULL) < end && wrong == 0) {
    struct itimerval soon = {{0, 0}, {0, 1 + rounds * 7 % 60}};
    *round = ++rounds;
    setitimer(ITIMER_REAL, &soon, NULL);
    change("main");
    if (write(log_fd, "m", 1) == 1) ++lines;
  }
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  struct stat st;
  expect("log size", fstat(log_fd, &st) == 0);
  expect("no append was lost", st.st_size == lines + handled);
  printf("wrong %d\n", wrong);
  fprintf(stderr, "%ld rounds, %d signals\n", rounds, handled);
  return rounds > 100 && handled > 100 && wrong == 0 ? 0 : 1;
}
