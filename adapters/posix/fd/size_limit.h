// The limit to the size of files (RLIMIT_FSIZE). Covered files are held to it as the kernel holds
// others: what crosses it is cut short; what lies beyond it gets SIGXFSZ and EFBIG.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include <atomic>

#include "posix/core/engine.h"

namespace posix::size_limit {

// In bytes; UINT64_MAX: none. Followed from the first attach on.
extern std::atomic<uint64_t> bytes;

inline bool is_set() { return bytes.load(std::memory_order_relaxed) != UINT64_MAX; }

// Asks the system.
void read();

// Whether who goes beyond the limit gets SIGXFSZ. Not in asynchronous I/O, whose threads take no
// signals (glibc).
enum class Signal : bool { no, yes };

// How much of a write of `size` bytes at `offset` may be done, or -EFBIG.
ssize_t allowed(uint64_t offset, size_t size, Signal signal = Signal::yes);

// May a file become so long? Only what makes it longer is refused: 0 or -EFBIG.
int check_size(uint64_t before, uint64_t after);
int check_size(cairn_file* file, uint64_t after);

}  // namespace posix::size_limit
