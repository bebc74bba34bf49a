// Copying out of memory that is not in the caches, while the lines that will be read after it are
// asked for.
//
// Between two calls, and between two places, the processor has nothing under way: its prefetchers
// lose the sequence, and what it can begin ahead of time ends with the copy. So each line that is
// copied asks for one of those that come later, and memory stays busy through whatever lies between
// two copies. They are asked into the second cache, for which there is room, and not in one go, for
// which there is none: sixteen such requests at once are what a core has.
//
// Sapphire Rapids, 2 MiB pages, with 20 ns of other work between two pieces, against memcpy alone
// and against asking for all of the next piece first: 1 KiB in 65 ns (86, 76), 4 KiB in 254 (267,
// 281), 32 KiB in 2.3 us (2.7, 2.7); what is in the second cache already costs a tenth more (4 KiB:
// 52 ns instead of 47).
#pragma once

#include <cstddef>
#include <cstdint>

#include "persist/copy/avx2_copy.h"
#include "persist/copy/four_stream_copy.h"

namespace cairn::persist {

// Whether this processor is one of those. AMD's keep the sequence, and the requests are in their
// way (EPYC: reads of 4 KiB come to 54 % of copying with requests and 88 % without).
extern const bool copies_fetching;
// Shorter copies are not worth the call.
inline constexpr size_t fetching_copy_min = 128;
// How far ahead of a sequence: from 2 KiB to 64 KiB it makes no difference.
inline constexpr size_t sequence_ahead = 4096;

// From here on a copy is a sequence of its own.
inline constexpr size_t fetching_copy_always = size_t{32} << 10;

// Copies `size` bytes, at least fetching_copy_min, and asks for as many from `next` on, which may
// be any address. Only where copies_fetching.
void copy_fetching(void* to, const void* from, size_t size, const void* next);

// Copies `size` bytes; `next`: what will probably be read after them, or null.
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
