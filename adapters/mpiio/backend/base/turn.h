// Turn is taken by one thread at a time, of all processes that map the memory where it lies.
//
// Whether its holder lives, the kernel says (a robust mutex): it marks the turn of a thread that
// dies, however that happens, and the next one gets it. No process number is looked at: another
// process may get that of a dead one.
#pragma once

#include <pthread.h>

namespace mpiio {

class Turn {
 public:
  // In new memory that is shared, before another process knows of it. Returns an errno value.
  int prepare();

  // Waits. Returns 0, or an errno value: the turn is not taken.
  int take();
  void give_up();

 private:
  pthread_mutex_t mutex_;
};

}  // namespace mpiio
