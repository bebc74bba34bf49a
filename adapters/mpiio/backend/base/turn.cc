#include "mpiio/backend/base/turn.h"

#include <cerrno>

namespace mpiio {

int Turn::prepare() {
  pthread_mutexattr_t kind;
  int error = pthread_mutexattr_init(&kind);
  if (error != 0) return error;
  error = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  if (error == 0) error = pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  if (error == 0) error = pthread_mutex_init(&mutex_, &kind);
  pthread_mutexattr_destroy(&kind);
  return error;
}

int Turn::take() {
  const int error = pthread_mutex_lock(&mutex_);
  if (error != EOWNERDEAD) return error;
  // The holder was killed in its turn. An access that was cut off leaves its bytes in the file.
  return pthread_mutex_consistent(&mutex_);
}

void Turn::give_up() { pthread_mutex_unlock(&mutex_); }

}  // namespace mpiio
