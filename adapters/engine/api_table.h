// ApiTable gives the engine of this process to modules that are loaded later and cannot link to it:
// the C API with guarded calls (guarded.h), the attachment and the log.
#pragma once

#include <stddef.h>

#include "cairn/adapter/shared.h"
#include "cairn/adapter/transport.h"
#include "cairn/cairn.h"
#include "cairn/checkpoint.h"
#include "cairn/cover.h"
#include "engine/log.h"

namespace engine {

struct ApiTable {
  // A module that was built for another table refuses this one.
  size_t size;
  const char* release;
#define CAIRN_CALL(name) decltype(&::cairn_##name) name;
#include "cairn/api.def"

  // Attaches the pool. Returns null if that fails.
  cairn_pool* (*attach)();
  void (*log)(Level level, const char* text);
  // Returns true if a signal handler of the program makes the call. It may have interrupted any
  // code.
  bool (*is_in_handler)();
};

const ApiTable& api_table();

}  // namespace engine
