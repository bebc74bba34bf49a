#include "persist/copy/prefetching_copy.h"

#include <cstring>

#include "base/at_start.h"
#include "base/cpu_features.h"
#include "persist/core/cpu.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace cairn::persist {
namespace {

// Each turn copies two lines; memcpy copies the rest.
constexpr size_t turn = 128;

// Takes a number, because the address may be in no object.
[[gnu::always_inline]] inline void fetch(uintptr_t next) {
  _mm_prefetch(reinterpret_cast<const char*>(next), _MM_HINT_T1);
  _mm_prefetch(reinterpret_cast<const char*>(next + turn / 2), _MM_HINT_T1);
}

[[gnu::always_inline]] inline void copy_rest(uint8_t* to, const uint8_t* from, size_t size,
                                             uintptr_t next) {
  if (size == 0) return;
  fetch(next);
  std::memcpy(to, from, size);
}

[[gnu::target("avx512f")]] void copy_512(uint8_t* to, const uint8_t* from, size_t size,
                                         uintptr_t next) {
  for (; size >= turn; to += turn, from += turn, next += turn, size -= turn) {
    fetch(next);
    const __m512i a = _mm512_loadu_si512(from);
    const __m512i b = _mm512_loadu_si512(from + 64);
    _mm512_storeu_si512(to, a);
    _mm512_storeu_si512(to + 64, b);
  }
  copy_rest(to, from, size, next);
}

[[gnu::target("avx2")]] void copy_256(uint8_t* to, const uint8_t* from, size_t size,
                                      uintptr_t next) {
  for (; size >= turn; to += turn, from += turn, next += turn, size -= turn) {
    fetch(next);
    const auto* source = reinterpret_cast<const __m256i*>(from);
    auto* target = reinterpret_cast<__m256i*>(to);
    const __m256i a = _mm256_loadu_si256(source);
    const __m256i b = _mm256_loadu_si256(source + 1);
    const __m256i c = _mm256_loadu_si256(source + 2);
    const __m256i d = _mm256_loadu_si256(source + 3);
    _mm256_storeu_si256(target, a);
    _mm256_storeu_si256(target + 1, b);
    _mm256_storeu_si256(target + 2, c);
    _mm256_storeu_si256(target + 3, d);
  }
  copy_rest(to, from, size, next);
}

CAIRN_DATA_AT_START const X86Features features = x86_features();

}  // namespace

#if CAIRN_LIBC_KNOWS_CPU
CAIRN_DATA_AT_START const bool copies_fetching = features.avx2 && !features.sse4a;
#else
const bool copies_fetching = false;
#endif

void copy_fetching(void* to, const void* from, size_t size, const void* next) {
  auto* const copy = features.avx512 ? copy_512 : copy_256;
  copy(static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from), size,
       reinterpret_cast<uintptr_t>(next));
}

}  // namespace cairn::persist

#else

namespace cairn::persist {
const bool copies_fetching = false;
void copy_fetching(void* to, const void* from, size_t size, const void*) {
  std::memcpy(to, from, size);
}
}  // namespace cairn::persist

#endif
