// Write window: while it is switched on, a thread can store to the memory of pools only during a
// call to Cairn, by a memory protection key (pkeys(7)). A stray store of the program into a pool
// then ends the program with SIGSEGV (si_code SEGV_PKUERR) instead of damaging the pool for all
// processes.
//
// Off, a window costs one load and one branch; on, reading and writing the thread's rights
// register, about 20 ns each way. Windows nest, and are async-signal-safe: the kernel starts a
// signal handler with the window closed, and restores the interrupted call's rights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace cairn::persist {

namespace detail {
extern constinit int write_key;  // 0: there is no window, all is open
}

// Puts the regions that this process opens from now on behind the window. EOPNOTSUPP if the
// processor or the kernel has no protection keys, ENOSPC if the program has used up all of them.
Status switch_on_write_window();

// Puts a mapping behind the window, if it is switched on; Region::open does it.
Status protect(void* base, size_t size, bool writable);

// Lets this thread store to pools while it exists (and read them: a thread that never called Cairn
// may not).
class WriteWindow {
 public:
  WriteWindow() {
    if (detail::write_key != 0) [[unlikely]]
      before_ = open();
  }
  ~WriteWindow() {
    if (before_ != never_opened) [[unlikely]]
      close(before_);
  }
  WriteWindow(const WriteWindow&) = delete;
  WriteWindow& operator=(const WriteWindow&) = delete;

 private:
  // These are static, so that the object's address is passed to no function and it stays in a
  // register.
  static uint64_t open();  // returns the thread's rights before
  static void close(uint64_t before);
  static constexpr uint64_t never_opened = UINT64_MAX;  // rights have 32 bits
  uint64_t before_ = never_opened;
};

}  // namespace cairn::persist
