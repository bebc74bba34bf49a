/* A program that starts another one in a signal handler with a stack of its own, of the size that
 * the least thread has: as handlers of faults do, which start a debugger. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { stack_size = 16 << 10, guard_size = 64 << 10 };

static volatile sig_atomic_t status = -1;

static void on_signal(int number) {
  (void)number;
  char* arguments[] = {(char*)"true", NULL};
  int ended = -1;
  pid_t child = fork();
  if (child == 0) {
    execv("/bin/true", arguments);
    _exit(98);
  }
  waitpid(child, &ended, 0);
  status = ended;
}

int main(void) {
  char* room = mmap(NULL, guard_size + stack_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(room + guard_size, stack_size, PROT_READ | PROT_WRITE);
  stack_t stack = {.ss_sp = room + guard_size, .ss_size = stack_size};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, NULL);
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  if (status != 0) printf("the program in the handler ended with status %d\n", (int)status);
  return status != 0;
}
