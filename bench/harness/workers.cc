#include "harness/workers.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "harness/contest.h"
#include "harness/pools.h"

namespace cairn::bench {

namespace {
constexpr size_t most_workers = 16;
constexpr size_t quit = ~size_t{0};
}  // namespace

struct Workers::Shared {
  alignas(128) std::atomic<unsigned> turn;
  size_t task;
  size_t round;
  struct Slot {
    alignas(128) std::atomic<unsigned> done;
    double nanoseconds;
  } slot[most_workers];
};

Workers::Workers(size_t count, const std::function<Task(size_t worker)>& job) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) must_posix(-1, "mmap");
  shared_ = static_cast<Shared*>(memory);
  count = std::min(count, most_workers);
  std::fflush(nullptr);
  for (size_t w = 0; w < count; ++w) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    must_posix(child, "fork");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(2);
      serve(w, job(w));
    }
    children_.push_back(child);
  }
  run(0, quit);  // waits until all are ready
}

Workers::~Workers() {
  shared_->task = quit;
  shared_->turn.fetch_add(1);
  for (const pid_t child : children_) waitpid(child, nullptr, 0);
  munmap(shared_, sizeof(Shared));
}

// Spins politely: the CPUs may be fewer than the workers and this process together.
double Workers::run(size_t task, size_t round) {
  shared_->task = task;
  shared_->round = round;
  const unsigned turn = shared_->turn.fetch_add(1) + 1;
  double slowest = 0;
  for (size_t w = 0; w < children_.size(); ++w) {
    while (shared_->slot[w].done.load() != turn) {
      int status = 0;
      if (waitpid(children_[w], &status, WNOHANG) != 0) {
        std::fprintf(stderr, "bench: a worker ended (status %d)\n", status);
        std::exit(2);
      }
      usleep(100);
    }
    slowest = std::max(slowest, shared_->slot[w].nanoseconds);
  }
  return slowest;
}

void Workers::serve(size_t worker, const Task& task) const {
  use_wall_clock();
  for (unsigned turn = 1;; ++turn) {
    while (shared_->turn.load() != turn) sched_yield();
    if (shared_->task == quit) break;
    Shared::Slot& slot = shared_->slot[worker];
    slot.nanoseconds = shared_->round == quit ? 0 : task(shared_->task, shared_->round);
    slot.done.store(turn);
  }
  // Detaches are the task's own; nothing of the parent's may be flushed or freed here.
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace cairn::bench
