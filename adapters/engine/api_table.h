// API table: the engine of this process for modules that are loaded later and cannot link to it.
// The C API with guarded calls (guarded.h), the attachment and the log.
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

  // The pool, attached to; null: there is no access to it.
  cairn_pool* (*attach)();
  void (*log)(Level level, const char* text);
  // Does a signal's handler of the program call? It may have interrupted anything.
  bool (*is_in_handler)();
};

const ApiTable& api_table();

}  // namespace engine
