#include "persist/copy/four_stream_copy.h"

#include <cstring>

#include "base/at_start.h"
#include "base/cpu_features.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace cairn::persist {

#if CAIRN_LIBC_KNOWS_CPU
CAIRN_DATA_AT_START const bool copies_quartered =
    CPU_FEATURE_PRESENT(SSE4A) && CPU_FEATURE_ACTIVE(AVX2) && !CPU_FEATURE_PRESENT(AVX_VNNI);
#else
const bool copies_quartered = false;
#endif

namespace {

constexpr size_t line = 64;
constexpr size_t page = 4096;

[[gnu::always_inline, gnu::target("avx2")]] inline void copy_line(uint8_t* to,
                                                                  const uint8_t* from) {
  const auto* source = reinterpret_cast<const __m256i*>(from);
  auto* target = reinterpret_cast<__m256i*>(to);
  const __m256i a = _mm256_loadu_si256(source);
  const __m256i b = _mm256_loadu_si256(source + 1);
  _mm256_storeu_si256(target, a);
  _mm256_storeu_si256(target + 1, b);
}

}  // namespace

[[gnu::target("avx2")]] void copy_quartered(void* to, const void* from, size_t size) {
  auto* target = static_cast<uint8_t*>(to);
  const auto* source = static_cast<const uint8_t*>(from);
  const size_t quarter = size / 4 & ~(page - 1);
  for (size_t at = 0; at < quarter; at += line) {
    copy_line(target + at, source + at);
    copy_line(target + quarter + at, source + quarter + at);
    copy_line(target + 2 * quarter + at, source + 2 * quarter + at);
    copy_line(target + 3 * quarter + at, source + 3 * quarter + at);
  }
  const size_t done = 4 * quarter;
  copy_bytes(target + done, source + done, size - done);
}

}  // namespace cairn::persist

#else

namespace cairn::persist {
const bool copies_quartered = false;
void copy_quartered(void* to, const void* from, size_t size) { std::memcpy(to, from, size); }
}  // namespace cairn::persist

#endif
