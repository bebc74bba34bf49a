// Delivers signals that arrive inside the engine when the thread leaves it.
//
// A handler of the program may call any async-signal-safe function: open, write, rename, unlink. If
// it interrupted a call of the engine that holds locks, its own call would wait for them for ever.
// So handlers are installed behind a function of ours. Inside the engine, that function keeps the
// signal and returns with all signals blocked. When the thread leaves the engine, it sends the
// signal to itself again and unblocks. This costs a call two additions to a thread's counter, and
// no system call.
//
// The function passes a fault (SIGSEGV and the like, raised by the kernel) on to the program
// immediately. The exception is a SIGBUS in a mapping that only has to follow its file's growth.
#pragma once

#include <signal.h>

namespace engine {

class Inside {
 public:
  Inside() { enter(); }
  ~Inside() { leave(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  // The handler of the same thread reads and writes these, so they are volatile.
  static __thread volatile int depth;
  static __thread volatile bool held;

  static void enter() { depth = depth + 1; }
  static void leave() {
    const int left = depth - 1;
    depth = left;
    if (left == 0 && __builtin_expect(held, 0)) deliver();
  }
  // Leaves in the child of a fork. The kept signal was sent to the parent.
  static void leave_in_child();

 private:
  static void deliver();
};

// Returns true if a handler of the program is running in this thread. It may have interrupted any
// code.
bool is_in_handler();

// From now on SIGBUS goes to `reached` first, whatever the program does with it. If `reached`
// returns true, it has repaired the fault at this address, outside the engine.
void catch_bus_errors(bool (*reached)(const void* address));

// Serves sigaction(2) for the program: installs a handler behind a function of ours.
int set_handler(int number, const struct sigaction* action, struct sigaction* old);

}  // namespace engine
