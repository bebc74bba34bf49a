// Site: the line of the program that asked for a flush or a fence.
//
// The crash simulator numbers these lines, so that a mutation test can remove each flush and each
// fence in turn and see a test fail. On volatile media a Site is never materialised; on others it
// costs two register moves beside a cache-line flush.
#pragma once

namespace cairn::persist {

struct Site {
  const char* file = "";
  int line = 0;

  // Names the caller's line when used as a default argument. A helper that flushes on behalf of
  // others takes a Site the same way and passes it on; otherwise all its callers count as one.
  [[nodiscard]] static constexpr Site here(const char* file = __builtin_FILE(),
                                           int line = __builtin_LINE()) {
    return Site{file, line};
  }
};

}  // namespace cairn::persist
