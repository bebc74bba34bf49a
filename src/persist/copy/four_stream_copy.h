// Copies out of memory that is not in the caches, from four places of it concurrently.
//
// With pieces as large as the first cache, copied bytes leave that cache while the next lines come
// in, and one sequence of reads does not keep memory busy. Four sequences that are whole pages
// apart do. EPYC (Zen 4), 2 MiB pages, with some 20 ns of other work between two pieces, memcpy and
// this copy: 32 KiB in 1.69 and 1.55 us, 64 KiB in 3.5 and 3.0, 128 KiB in 7.0 and 6.1, 256 KiB in
// 13.8 and 12.3; 512 KiB in 22.9 and 24.4. Bytes that are in the second or third cache already copy
// no slower. The copy is slower if the moves split lines of the source (32 KiB from +1000: 1.9),
// and with less than two pages to a quarter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "persist/copy/avx2_copy.h"

namespace cairn::persist {

// True if this processor is one of those: AMD's before Zen 5, whose first cache is larger and which
// was not measured.
extern const bool copies_quartered;
inline constexpr size_t quartered_copy_min = size_t{32} << 10;

// Copies at least quartered_copy_min bytes; called only if copies_quartered.
void copy_quartered(void* to, const void* from, size_t size);

inline bool is_better_quartered(const void* from, size_t size) {
  return size >= quartered_copy_min && copies_quartered && size < wide_copy_always &&
         (reinterpret_cast<uintptr_t>(from) & 63) == 0;
}

}  // namespace cairn::persist
