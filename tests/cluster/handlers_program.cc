// A signal's handler looks for files while the MPI is at work in the same thread.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>

#include "by_name.h"

namespace {

volatile sig_atomic_t handled;
volatile sig_atomic_t written;
int handlers_file = -1;
void look_for_something(int) {
  const int before = errno;
  const int fd = open("something", O_WRONLY | O_CREAT, 0600);
  if (fd >= 0) close(fd);
  unlink("something");
  access("nothing", F_OK);
  if (write(handlers_file, "!", 1) == 1)
    written = written + 1;
  else
    CHECK(errno == EDEADLK);  // it lies on another host
  handled = handled + 1;
  errno = before;
}

// A signal's handler may look for files while the MPI is at work in the same thread.
void handlers() {
  handlers_file = open("handlers", O_WRONLY | O_CREAT | O_APPEND, 0600);
  CHECK(handlers_file >= 0);
  barrier();
  struct sigaction action = {};
  action.sa_handler = look_for_something;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGALRM, &action, nullptr) == 0);
  const struct itimerval often = {{0, 500}, {0, 500}};
  CHECK(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  const double until = MPI_Wtime() + 2;
  int go_on = 1;
  while (go_on != 0) {
    barrier();
    go_on = MPI_Wtime() < until ? 1 : 0;
    MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  const struct itimerval never = {};
  CHECK(setitimer(ITIMER_REAL, &never, nullptr) == 0);
  CHECK(handled > 10);
  int64_t own = written;
  int64_t all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all > 0 && size_by_name("handlers") == all && close(handlers_file) == 0);
}

constexpr Part parts[] = {{"handlers", handlers}};

}  // namespace

int main(int argc, char** argv) { return run_parts(parts, argc, argv); }
