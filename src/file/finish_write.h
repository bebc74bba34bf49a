// What a write does before it returns, once its bytes are in place.
#pragma once

#include "file/attributes.h"
#include "file/open_file.h"

namespace cairn::file {

// What was written up to `end` becomes durable.
[[gnu::noinline]] Status persist_write(File& file, uint64_t end);

inline Status finish_write(File& file, uint64_t end) {
  if (!file.fs->pool.is_volatile) CAIRN_TRY(persist_write(file, end));
  touch_modified(file);
  return Status();
}

}  // namespace cairn::file
