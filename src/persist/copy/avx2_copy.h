// A memcpy for processors on which the C library's is slow.
//
// From 2 KiB to the size of the second cache glibc copies with `rep movsb`. AMD's processors need
// longer for that when one of the two is not at a multiple of 32, and large blocks of malloc begin
// 16 bytes behind one. A loop of 32 byte moves has no such cost. EPYC, from memory to a buffer at
// +16: 4 KiB in 150 ns instead of 450 to 640, 32 KiB in 2 us instead of 4 to 5.7, 512 KiB in 30 us
// instead of 71 to 88; from such a buffer to memory: 4 KiB in 185 ns instead of 320, 32 KiB in 1.9
// us instead of 2.7, 256 KiB in 13 us instead of 20. Elsewhere `rep movsb` is as fast by itself,
// and in small pieces better within Cairn's calls (reads of 4 KiB: 96 % of memcpy's speed against
// 79 %; the cause is unknown).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cairn::persist {

// True if this processor is one of those.
extern const bool copies_wide;
// Shorter copies use the C library's memcpy.
inline constexpr size_t wide_copy_min = 2048;
// Copies from this size on are faster with the loop, whatever their alignment.
inline constexpr size_t wide_copy_always = size_t{512} << 10;
// Copies at least wide_copy_min bytes; called only if copies_wide.
void copy_wide(void* to, const void* from, size_t size);

inline void copy_bytes(void* to, const void* from, size_t size) {
  const bool is_askew =
      ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) & 31) != 0;
  if (size >= wide_copy_min && copies_wide && (is_askew || size >= wide_copy_always)) {
    copy_wide(to, from, size);
  } else {
    std::memcpy(to, from, size);
  }
}

}  // namespace cairn::persist
