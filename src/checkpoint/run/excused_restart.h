// ExcusedRestart: the restart of a context, which does not count as an attempt once SIGTERM has
// come. For CAIRN_CHECKPOINT_SIGNALS.
#pragma once

#include <cstdint>

#include "checkpoint/store/attempts.h"

namespace cairn::checkpoint {

class ExcusedRestart {
 public:
  ExcusedRestart() = default;
  ~ExcusedRestart() { clear(); }
  ExcusedRestart(const ExcusedRestart&) = delete;
  ExcusedRestart& operator=(const ExcusedRestart&) = delete;

  // The word and the pool stay until clear(), or until this is called again. Where more contexts
  // than a few have restarted, the rest are not excused.
  void set(pool::Pool* pool, persist::Word* attempts, uint32_t run);
  void clear();

  // SIGTERM came: for all contexts of this process. Async-signal-safe.
  static void note_signal();

 private:
  int entry_ = -1;
};

}  // namespace cairn::checkpoint
