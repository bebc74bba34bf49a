// Copies out of memory that is not in the caches, and prefetches the lines that will be read after
// it.
//
// Between two calls, and between two places, the processor has no load in progress: its prefetchers
// lose the sequence, and its look-ahead ends with the copy. So each copied line requests one of the
// later lines, and memory stays busy through whatever lies between two copies. The lines are
// requested into the second cache, which has room for them, and not all together: a core has
// sixteen such requests.
//
// Sapphire Rapids, 2 MiB pages, with 20 ns of other work between two pieces, against memcpy alone
// and against requesting all of the next piece first: 1 KiB in 65 ns (86, 76), 4 KiB in 254 (267,
// 281), 32 KiB in 2.3 us (2.7, 2.7). Bytes that are in the second cache already cost a tenth more
// (4 KiB: 52 ns instead of 47).
#pragma once

#include <cstddef>
#include <cstdint>

#include "persist/copy/avx2_copy.h"
#include "persist/copy/four_stream_copy.h"

namespace cairn::persist {

// True if this processor is one of those. AMD's processors keep the sequence, and the requests slow
// them down (EPYC: reads of 4 KiB reach 54 % of memcpy's speed with requests and 88 % without).
extern const bool copies_fetching;
// Shorter copies are not worth the call.
inline constexpr size_t fetching_copy_min = 128;
// The distance ahead of a sequence: from 2 KiB to 64 KiB it makes no difference.
inline constexpr size_t sequence_ahead = 4096;

// A copy of this size is a sequence by itself.
inline constexpr size_t fetching_copy_always = size_t{32} << 10;

// Copies `size` bytes, at least fetching_copy_min, and requests as many from `next` on, which may
// be any address. Called only if copies_fetching.
void copy_fetching(void* to, const void* from, size_t size, const void* next);

// Copies `size` bytes; `next`: the address of the probable next read, or null.
inline void copy_out(void* to, const void* from, size_t size, const void* next) {
  if (copies_fetching && next != nullptr && size >= fetching_copy_min) {
    copy_fetching(to, from, size, next);
  } else if (copies_fetching && size >= fetching_copy_always) {
    copy_fetching(to, from, size, static_cast<const uint8_t*>(from) + sequence_ahead);
  } else if (is_better_quartered(from, size)) {
    copy_quartered(to, from, size);
  } else {
    if (copies_fetching && next != nullptr) __builtin_prefetch(next);
    copy_bytes(to, from, size);
  }
}

}  // namespace cairn::persist
