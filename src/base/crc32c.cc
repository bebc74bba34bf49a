#include "base/crc32c.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <atomic>
#include <cstring>

#include "base/cpu_features.h"

namespace cairn {
namespace {

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0x82f63b78U : 0U);
    table[i] = c;
  }
  return table;
}

constexpr auto table = make_table();

uint32_t portable(uint32_t crc, const unsigned char* p, size_t size) {
  for (; size != 0; --size) crc = (crc >> 8) ^ table[(crc ^ *p++) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t sse42(uint32_t crc, const unsigned char* p,
                                                 size_t size) {
  uint64_t c = crc;
  for (; size >= 8; size -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    c = __builtin_ia32_crc32di(c, word);
  }
  auto c32 = static_cast<uint32_t>(c);
  if (size >= 4) {
    uint32_t word;
    std::memcpy(&word, p, 4);
    c32 = __builtin_ia32_crc32si(c32, word);
    size -= 4;
    p += 4;
  }
  for (; size != 0; --size) c32 = __builtin_ia32_crc32qi(c32, *p++);
  return c32;
}
#endif

}  // namespace

// Asked once, at the first sum: not at load, where it would cost every program (cpuid traps in a
// virtual machine).
bool detail::has_crc32c_instruction() {
#if defined(__x86_64__)
  static std::atomic<int> known{0};  // 1 yes, 2 no
  int value = known.load(std::memory_order_relaxed);
  if (value == 0) [[unlikely]] {
#if CAIRN_LIBC_KNOWS_CPU
    value = CPU_FEATURE_ACTIVE(SSE4_2) ? 1 : 2;  // the C library's answer: no trap
#else
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    value = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_2) != 0 ? 1 : 2;
#endif
    known.store(value, std::memory_order_relaxed);
  }
  return value == 1;
#else
  return false;
#endif
}

uint32_t crc32c(uint32_t crc, const void* data, size_t size) {
  const auto* p = static_cast<const unsigned char*>(data);
#if defined(__x86_64__)
  if (detail::has_crc32c_instruction()) return ~sse42(~crc, p, size);
#endif
  return ~portable(~crc, p, size);
}

}  // namespace cairn
