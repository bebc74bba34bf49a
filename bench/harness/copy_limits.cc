#include "harness/copy_limits.h"

#include <algorithm>
#include <cstring>

#include "harness/contest.h"

#if defined(CAIRN_HAVE_PMEM)
#include <libpmem.h>
#endif
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cairn::bench {
namespace {

// Non-temporal copy and store fence.
void stream(void* to, const void* from, size_t size) {
#if defined(CAIRN_HAVE_PMEM)
  pmem_memcpy(to, from, size, PMEM_F_MEM_NONTEMPORAL);
#elif defined(__SSE2__)
  auto* t = static_cast<__m128i*>(to);
  const auto* f = static_cast<const __m128i*>(from);
  for (size_t i = 0; i < size / sizeof *t; ++i) _mm_stream_si128(t + i, _mm_loadu_si128(f + i));
  _mm_sfence();
#else
  std::memcpy(to, from, size);
#endif
}

template <typename Operation>
double each_piece(const std::vector<Extent>& extents, size_t piece, Operation operation) {
  const double begin = now_ns();
  for (const Extent& extent : extents) {
    uint8_t* const end = extent.data + extent.size;
    for (uint8_t* at = extent.data; at < end; at += piece)
      operation(at, std::min(piece, static_cast<size_t>(end - at)));
  }
  return now_ns() - begin;
}

template <typename Operation>
double each_place(const std::vector<uint8_t*>& places, Operation operation) {
  const double begin = now_ns();
  for (uint8_t* at : places) operation(at);
  return now_ns() - begin;
}

}  // namespace

double copy_pieces(const std::vector<Extent>& extents, const uint8_t* source, size_t piece) {
  return each_piece(extents, piece, [&](uint8_t* at, size_t n) { std::memcpy(at, source, n); });
}

double read_pieces(const std::vector<Extent>& extents, uint8_t* destination, size_t piece) {
  return each_piece(extents, piece,
                    [&](uint8_t* at, size_t n) { std::memcpy(destination, at, n); });
}

double stream_pieces(const std::vector<Extent>& extents, const uint8_t* source, size_t piece) {
  return each_piece(extents, piece, [&](uint8_t* at, size_t n) { stream(at, source, n); });
}

#if defined(CAIRN_HAVE_PMEM)
double persist_pieces(const std::vector<Extent>& extents, const uint8_t* source, size_t piece,
                      uint64_t* words) {
  uint64_t value = 1;
  return each_piece(extents, piece, [&](uint8_t* at, size_t n) {
    pmem_memcpy_persist(at, source, n);
    if (words == nullptr) return;
    ++value;
    pmem_memcpy_persist(words++, &value, sizeof value);
  });
}
bool has_pmem() { return true; }
#else
double persist_pieces(const std::vector<Extent>&, const uint8_t*, size_t, uint64_t*) { return 0; }
bool has_pmem() { return false; }
#endif

double copy_at(const std::vector<uint8_t*>& places, const uint8_t* source, size_t piece) {
  return each_place(places, [&](uint8_t* at) { std::memcpy(at, source, piece); });
}

double stream_at(const std::vector<uint8_t*>& places, const uint8_t* source, size_t piece) {
  return each_place(places, [&](uint8_t* at) { stream(at, source, piece); });
}

double read_at(const std::vector<uint8_t*>& places, uint8_t* destination, size_t piece) {
  return each_place(places, [&](uint8_t* at) { std::memcpy(destination, at, piece); });
}

void evict([[maybe_unused]] const std::vector<Extent>& extents) {
#if defined(__SSE2__)
  constexpr size_t line = 64;
  for (const Extent& extent : extents) {
    for (size_t at = 0; at < extent.size; at += line) _mm_clflush(extent.data + at);
  }
  _mm_mfence();
#endif
}

namespace {
constexpr size_t filled_at_once = 2 * Settings::slice;
}

OtherData::OtherData(size_t cache)
    : bytes_((2 * cache + filled_at_once - 1) / filled_at_once * filled_at_once) {}

void OtherData::fill_caches() {
  std::memset(bytes_.data() + next_, static_cast<int>(next_ / filled_at_once), filled_at_once);
  next_ = (next_ + filled_at_once) % bytes_.size();
}

std::vector<Extent> part_of(const std::vector<Extent>& extents, size_t from, size_t size) {
  std::vector<Extent> part;
  size_t at = 0;
  for (const Extent& extent : extents) {
    const size_t begin = std::max(from, at);
    const size_t end = std::min(from + size, at + extent.size);
    if (begin < end) part.push_back({extent.data + (begin - at), end - begin});
    at += extent.size;
  }
  return part;
}

}  // namespace cairn::bench
