// Site: the line of the program that asked for a flush or a fence.
//
// The crash simulator numbers these lines, so that a mutation test can take each flush and each
// fence out in turn and see a test fail. On volatile media a Site is never materialised; on others
// it costs two register moves beside a cache-line flush.
#pragma once

namespace cairn::persist {

struct Site {
  const char* file = "";
  int line = 0;

  // As a default argument this names the caller's line. A helper that flushes on behalf of others
  // takes a Site the same way and hands it on, or all its callers count as one.
  [[nodiscard]] static constexpr Site here(const char* file = __builtin_FILE(),
                                           int line = __builtin_LINE()) {
    return Site{file, line};
  }
};

}  // namespace cairn::persist
