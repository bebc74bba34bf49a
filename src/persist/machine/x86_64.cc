// The x86-64 backend: cache lines are flushed with the gentlest instruction that the CPU has (clwb,
// clflushopt, clflush) and bulk data go past the cache with the widest stores that it has. The CPU
// is asked for both at run time; the code is compiled for every x86-64.
//
// A copy past the cache consists of whole lines. The edges are stored through the cache, and
// flushed where the medium needs that, so that their other bytes keep their values.
//
// Only sfence and locked instructions order stores past the cache. So each such copy ends with its
// own sfence: a plain Word store after it must not overtake it. The fence() that follows finds
// nothing left to wait for and costs next to nothing.
#include "persist/core/backend.h"
#include "persist/machine/machine.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "persist/copy/avx2_copy.h"
#include "persist/copy/streaming.h"

namespace cairn::persist {
namespace {

constexpr size_t line = 64;
constexpr uintptr_t line_mask = line - 1;

// Non-volatile media: from this size on a copy past the cache beats one that is flushed line by
// line.
constexpr size_t durable_past_cache = 256;

// The source for zeroing; not const, so that it costs no room in the library.
uint8_t zeros[4096];

// --- whole lines past the cache: `to` is line aligned, `from` need not be ---

void stream_sse2(uint8_t* to, const uint8_t* from, size_t lines) {
  for (; lines > 0; --lines, to += line, from += line) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    __m128i a = _mm_loadu_si128(source);
    __m128i b = _mm_loadu_si128(source + 1);
    __m128i c = _mm_loadu_si128(source + 2);
    __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
}

[[gnu::target("avx2")]] void stream_avx2(uint8_t* to, const uint8_t* from, size_t lines) {
  for (; lines > 0; --lines, to += line, from += line) {
    const auto* source = reinterpret_cast<const __m256i*>(from);
    auto* target = reinterpret_cast<__m256i*>(to);
    __m256i a = _mm256_loadu_si256(source);
    __m256i b = _mm256_loadu_si256(source + 1);
    _mm256_stream_si256(target, a);
    _mm256_stream_si256(target + 1, b);
  }
}

[[gnu::target("avx512f")]] void stream_avx512(uint8_t* to, const uint8_t* from, size_t lines) {
  for (; lines >= 4; lines -= 4, to += 4 * line, from += 4 * line) {
    __m512i a = _mm512_loadu_si512(from);
    __m512i b = _mm512_loadu_si512(from + line);
    __m512i c = _mm512_loadu_si512(from + 2 * line);
    __m512i d = _mm512_loadu_si512(from + 3 * line);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), a);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + line), b);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 2 * line), c);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 3 * line), d);
  }
  for (; lines > 0; --lines, to += line, from += line) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  }
}

// --- flushing the lines of [begin, end) ---

[[gnu::target("clwb")]] void flush_clwb(uintptr_t begin, uintptr_t end) {
  for (begin &= ~line_mask; begin < end; begin += line) _mm_clwb(reinterpret_cast<void*>(begin));
}

[[gnu::target("clflushopt")]] void flush_clflushopt(uintptr_t begin, uintptr_t end) {
  for (begin &= ~line_mask; begin < end; begin += line) {
    _mm_clflushopt(reinterpret_cast<void*>(begin));
  }
}

void flush_clflush(uintptr_t begin, uintptr_t end) {
  for (begin &= ~line_mask; begin < end; begin += line) {
    _mm_clflush(reinterpret_cast<const void*>(begin));
  }
}

void flush_nothing(uintptr_t, uintptr_t) {}

using Stream = void (*)(uint8_t*, const uint8_t*, size_t);
using FlushLines = void (*)(uintptr_t, uintptr_t);

// A combination of instructions.
template <Stream stream, FlushLines flush_lines>
struct Machine {
  static constexpr bool in_cache = flush_lines == flush_nothing;

  static void copy_cached(uint8_t* to, const uint8_t* from, size_t size) {
    copy_bytes(to, from, size);
    auto begin = reinterpret_cast<uintptr_t>(to);
    flush_lines(begin, begin + size);
  }

  static bool goes_past_cache(const RegionState& region, const uint8_t* to, size_t size) {
    if constexpr (in_cache) return size >= region.stream_min() && continues_stream(to, size);
    return size >= durable_past_cache;
  }

  // Streams whole lines, and stores the bytes before and after them through the cache.
  static void copy_past_cache(uint8_t* to, const uint8_t* from, size_t size) {
    size_t head = -reinterpret_cast<uintptr_t>(to) & line_mask;
    if (head != 0) {
      copy_cached(to, from, head);
      to += head;
      from += head;
      size -= head;
    }
    size_t lines = size / line;
    stream(to, from, lines);
    size_t tail = size % line;
    if (tail != 0) copy_cached(to + lines * line, from + lines * line, tail);
  }

  static Status copy(RegionState& region, uint8_t* to, const void* from, size_t size) {
    const auto* source = static_cast<const uint8_t*>(from);
    if (!goes_past_cache(region, to, size)) {
      copy_cached(to, source, size);
      return Status();
    }
    copy_past_cache(to, source, size);
    _mm_sfence();
    return Status();
  }

  static Status zero(RegionState& region, uint8_t* to, size_t size) {
    if (!goes_past_cache(region, to, size)) {
      std::memset(to, 0, size);
      auto begin = reinterpret_cast<uintptr_t>(to);
      flush_lines(begin, begin + size);
      return Status();
    }
    while (size > 0) {
      size_t piece = size < sizeof zeros ? size : sizeof zeros;
      if (piece < line) {
        copy_cached(to, zeros, piece);
      } else {
        copy_past_cache(to, zeros, piece);
      }
      to += piece;
      size -= piece;
    }
    _mm_sfence();
    return Status();
  }

  static void flush(RegionState&, const void* address, size_t size, Site) {
    auto begin = reinterpret_cast<uintptr_t>(address);
    flush_lines(begin, begin + size);
  }

  static Status fence(RegionState&, Site) {
    _mm_sfence();
    return Status();
  }

  static constexpr Backend backend(const char* name) {
    return {name, copy, zero, flush, fence, nullptr, nullptr, in_cache};
  }
};

template <Stream stream>
struct Flavour {
  static constexpr Backend in_cache = Machine<stream, flush_nothing>::backend("x86_64");
  static constexpr Backend clwb = Machine<stream, flush_clwb>::backend("x86_64 clwb");
  static constexpr Backend clflushopt =
      Machine<stream, flush_clflushopt>::backend("x86_64 clflushopt");
  static constexpr Backend clflush = Machine<stream, flush_clflush>::backend("x86_64 clflush");

  static const Backend* pick(Granularity granularity, X86Features features) {
    // If the cache itself is safe, copies are as on volatile memory; fence() still orders.
    if (granularity != Granularity::cache_line) return &in_cache;
    if (features.clwb) return &clwb;
    return features.clflushopt ? &clflushopt : &clflush;
  }
};

}  // namespace

const Backend* x86_64_backend(Granularity granularity, X86Features features) {
  if (granularity == Granularity::page) return &page_backend;
  if (features.avx512) return Flavour<stream_avx512>::pick(granularity, features);
  if (features.avx2) return Flavour<stream_avx2>::pick(granularity, features);
  return Flavour<stream_sse2>::pick(granularity, features);
}

const Backend* x86_64_backend(Granularity granularity) {
  return x86_64_backend(granularity, x86_features());
}

}  // namespace cairn::persist

#else

namespace cairn::persist {
const Backend* x86_64_backend(Granularity, X86Features) { return nullptr; }
const Backend* x86_64_backend(Granularity) { return nullptr; }
}  // namespace cairn::persist

#endif
