// Hooks: functions of an adapter that the engine calls when the process attaches, and around its
// forks.
//
// The library that carries the engine defines them, as constants, so that no code runs at the start
// to register them.
#pragma once

#include <stddef.h>
#include <sys/types.h>

namespace engine::hooks {

using Step = void (*)();

// Called in this order; each list ends with a null pointer.
extern const Step attaching[];    // the pool is attached; no other thread sees it yet
extern const Step attached[];     // `pool` is set
extern const Step before_fork[];  // before the pool is held still
extern const Step in_parent[];    // after the pool continues
extern const Step in_child[];     // after the child has its own place in the pool

// Writes to a stderr that is not a descriptor of the kernel's.
extern ssize_t (*const write_stderr)(int fd, const void* bytes, size_t size);

inline void run(const Step* list) {
  for (; *list != nullptr; ++list) (*list)();
}

}  // namespace engine::hooks
