// Attachment: the process's place in the pool and in its covered directories, for all adapters of
// the process. It is taken at the first covered path, not at load.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include <atomic>

#include "engine/guarded.h"

namespace engine {

extern cairn_pool* pool;       // null until attached
extern const char* pool_path;  // the adapter that reads the environment sets it; "": none

struct Cover {
  const char* path = "";  // real, absolute, without a slash at the end
  size_t length = 0;      // 0: the cover has ended
  std::atomic<bool> joined{false};
  cairn_cover* handle = nullptr;
  cairn_ino top = 0;
};

// Attaches if needed. Returns 0 or a negative errno. Logs the reason of a failure once.
int attach();
// Attaches, and joins this cover. Returns kEnded if the cover has ended; its directory is an
// ordinary one then.
constexpr int kEnded = 1;
int join(Cover* cover);
// Joins without logging a failure.
int join_quietly(Cover* cover);

// Returns the device number that covered files show.
dev_t device_number();

}  // namespace engine
