// Measures from which size on copies are faster past the cache (streaming.h), for a pool to
// remember.
#pragma once

#include <cstddef>

namespace cairn::persist {

// Returns the piece size (a power of two from 4 KiB on) from which on streaming is faster on this
// machine, on memory that is not in the cache; SIZE_MAX if it never is. Takes about 5 ms and no
// pool memory.
size_t measure_stream_min();

}  // namespace cairn::persist
