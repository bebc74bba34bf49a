// Hooks: what an adapter has the engine call when the process attaches, and around its forks.
//
// The library that the engine is linked into defines them, as constants: nothing is registered at
// start.
#pragma once

#include <stddef.h>
#include <sys/types.h>

namespace engine::hooks {

using Step = void (*)();

// Called in this order; each list ends with a null pointer.
extern const Step attaching[];    // the pool is attached; no other thread sees it yet
extern const Step attached[];     // `pool` is set
extern const Step before_fork[];  // before the pool is held still
extern const Step in_parent[];    // after the pool goes on
extern const Step in_child[];     // after the child has its own place in the pool

// Writes to a stderr that is no descriptor of the kernel's.
extern ssize_t (*const write_stderr)(int fd, const void* bytes, size_t size);

inline void run(const Step* list) {
  for (; *list != nullptr; ++list) (*list)();
}

}  // namespace engine::hooks
