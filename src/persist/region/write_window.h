// The write window: with it, the memory of pools can be stored to only while a call of ours is
// under way in the same thread, by a memory protection key (pkeys(7)). A stray store of the program
// into a pool then ends it with SIGSEGV (si_code SEGV_PKUERR) instead of damaging the pool for
// everybody.
//
// Off, a window costs one load and one branch; on, reading and writing the thread's rights
// register, about 20 ns each way. Windows nest, and are async-signal-safe: the kernel starts a
// signal handler with the window closed, and gives the interrupted call its rights back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace cairn::persist {

namespace detail {
extern constinit int write_key;  // 0: there is no window, all is open
}

// From now on the regions that this process opens are behind the window. EOPNOTSUPP where the
// processor or the kernel has no protection keys, ENOSPC when the program has used up all of them.
Status switch_on_write_window();

// Puts a mapping behind the window, if it is switched on; Region::open does it.
Status protect(void* base, size_t size, bool writable);

// While one exists, this thread may store to pools (and read them: a thread that never called us
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
  // Not members: nobody gets this object's address, so that it is never more than a register.
  static uint64_t open();  // returns the thread's rights before
  static void close(uint64_t before);
  static constexpr uint64_t never_opened = UINT64_MAX;  // rights have 32 bits
  uint64_t before_ = never_opened;
};

}  // namespace cairn::persist
