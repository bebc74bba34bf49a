// Signals that arrive while the engine works are delivered when it has done.
//
// A handler of the program's may call anything that is async-signal-safe: open, write, rename,
// unlink. If it interrupted the engine in a call that holds locks, its own call would wait for them
// for ever. So handlers are installed behind a function of ours, which, inside the engine, keeps
// the signal and returns with all signals blocked; who leaves the engine sends it to himself again
// and unblocks. This costs a call two additions to a thread's counter, and no system call.
//
// The handler passes a fault (SIGSEGV and the like, raised by the kernel) on to the program at
// once. The exception is a SIGBUS in a mapping that only has to follow its file's growth.
#pragma once

#include <signal.h>

namespace engine {

class Inside {
 public:
  Inside() { enter(); }
  ~Inside() { leave(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  // volatile: read and written by the handler of the same thread.
  static __thread volatile int depth;
  static __thread volatile bool held;

  static void enter() { depth = depth + 1; }
  static void leave() {
    const int left = depth - 1;
    depth = left;
    if (left == 0 && __builtin_expect(held, 0)) deliver();
  }
  // In the child of a fork: what was kept was sent to the parent.
  static void leave_in_child();

 private:
  static void deliver();
};

// Is a handler of the program's running in this thread? It may have interrupted anything.
bool is_in_handler();

// From now on SIGBUS comes to `reached` first, whatever the program wants of it: what was done
// about a fault at this address, outside the engine, is enough if it returns true.
void catch_bus_errors(bool (*reached)(const void* address));

// sigaction(2) for the program: a handler is installed behind a function of ours.
int set_handler(int number, const struct sigaction* action, struct sigaction* old);

}  // namespace engine
