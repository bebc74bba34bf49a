// Holds covered files to the limit of file sizes (RLIMIT_FSIZE) as the kernel holds others: a write
// across the limit is cut short, one beyond it gets SIGXFSZ and EFBIG.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include <atomic>

#include "posix/core/engine.h"

namespace posix::size_limit {

// The limit; UINT64_MAX: none. Kept up to date from the first attach on.
extern std::atomic<uint64_t> bytes;

inline bool is_set() { return bytes.load(std::memory_order_relaxed) != UINT64_MAX; }

// Reads the limit from the system.
void read();

// Whether a write beyond the limit raises SIGXFSZ. Asynchronous I/O does not, because glibc's
// threads for it block signals.
enum class Signal : bool { no, yes };

// Returns how many bytes of a write of `size` bytes at `offset` are allowed, or -EFBIG.
ssize_t allowed(uint64_t offset, size_t size, Signal signal = Signal::yes);

// Returns -EFBIG if a file must not grow to this size, else 0. A file may always shrink.
int check_size(uint64_t before, uint64_t after);
int check_size(cairn_file* file, uint64_t after);

}  // namespace posix::size_limit
