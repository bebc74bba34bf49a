// Turn: a lock that one thread at a time holds, of all processes that map its memory.
//
// It is a robust mutex: the kernel marks the turn of a thread that dies, in whatever way, and the
// next thread gets it. No process number is compared: another process may get that of a dead one.
#pragma once

#include <pthread.h>

namespace mpiio {

class Turn {
 public:
  // Initialises the turn in new shared memory, before another process knows of it. Returns an errno
  // value.
  int prepare();

  // Waits for the turn. Returns 0, or an errno value: the turn is not taken.
  int take();
  void give_up();

 private:
  pthread_mutex_t mutex_;
};

}  // namespace mpiio
