// Copying past the cache, as large copies do best, in the widest stores that the processor has.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)

__attribute__((target("avx512f"))) inline int64_t stream_512(char* to, const char* from,
                                                               int64_t size) {
  int64_t done = 0;
  for (; done + 64 <= size; done += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + done), _mm512_loadu_si512(from + done));
  return done;
}

inline int64_t stream_128(char* to, const char* from, int64_t size) {
  int64_t done = 0;
  for (; done + 16 <= size; done += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + done),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done)));
  return done;
}

inline void stream(char* to, const char* from, int64_t size) {
  static const bool wide = __builtin_cpu_supports("avx512f") != 0;
  const auto before = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) & 63);
  int64_t done = std::min(before, size);
  std::memcpy(to, from, static_cast<size_t>(done));
  done += wide ? stream_512(to + done, from + done, size - done)
               : stream_128(to + done, from + done, size - done);
  std::memcpy(to + done, from + done, static_cast<size_t>(size - done));
  _mm_sfence();
}
#else
// No such stores are known here: a plain copy.
inline void stream(char* to, const char* from, int64_t size) {
  std::memcpy(to, from, static_cast<size_t>(size));
}
#endif
