// Attachment: the process's place in the pool and in its covered directories, for all adapters of
// the process. Taken at the first covered path, not at load.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include <atomic>

#include "engine/guarded.h"

namespace engine {

extern cairn_pool* pool;       // nullptr until attached
extern const char* pool_path;  // set by the adapter that reads the environment; "" if there is none

struct Cover {
  const char* path = "";  // real, absolute, without a slash at the end
  size_t length = 0;      // 0: the cover has ended
  std::atomic<bool> joined{false};
  cairn_cover* handle = nullptr;
  cairn_ino top = 0;
};

// Attaches if need be. 0 or a negative errno; logs once why it does not work.
int attach();
// Attaches, and joins this cover. kEnded: the cover is no more, its directory is an ordinary one.
constexpr int kEnded = 1;
int join(Cover* cover);
// Does the same and logs nothing.
int join_quietly(Cover* cover);

// The device number that covered files show.
dev_t device_number();

}  // namespace engine
