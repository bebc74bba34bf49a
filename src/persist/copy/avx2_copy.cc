#include "persist/copy/avx2_copy.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "base/at_start.h"
#include "base/cpu_features.h"

namespace cairn::persist {

#if CAIRN_LIBC_KNOWS_CPU
CAIRN_DATA_AT_START const bool copies_wide = CPU_FEATURE_PRESENT(SSE4A) && CPU_FEATURE_ACTIVE(AVX2);
#else
const bool copies_wide = false;
#endif

[[gnu::target("avx2")]] void copy_wide(void* destination, const void* source, size_t size) {
  constexpr size_t width = sizeof(__m256i);
  auto* to = static_cast<uint8_t*>(destination);
  const auto* from = static_cast<const uint8_t*>(source);
  uint8_t* const to_end = to + size;
  const uint8_t* const from_end = from + size;
  // The bytes before the first aligned move are moved twice, and so are those before the last one.
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  const size_t head = width - (reinterpret_cast<uintptr_t>(to) & (width - 1));
  to += head;
  from += head;
  size -= head;
  for (; size >= 4 * width; to += 4 * width, from += 4 * width, size -= 4 * width) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + width));
    const __m256i c = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 2 * width));
    const __m256i d = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 3 * width));
    auto* target = reinterpret_cast<__m256i*>(to);
    _mm256_store_si256(target, a);
    _mm256_store_si256(target + 1, b);
    _mm256_store_si256(target + 2, c);
    _mm256_store_si256(target + 3, d);
  }
  for (; size >= width; to += width, from += width, size -= width)
    _mm256_store_si256(reinterpret_cast<__m256i*>(to),
                       _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to_end - width),
                      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from_end - width)));
}

}  // namespace cairn::persist

#else

namespace cairn::persist {
const bool copies_wide = false;
void copy_wide(void* to, const void* from, size_t size) { std::memcpy(to, from, size); }
}  // namespace cairn::persist

#endif
