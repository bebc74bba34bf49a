#include "base/crc32c.h"

#include <array>
#include <cstring>

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
  for (; size != 0; --size) c32 = __builtin_ia32_crc32qi(c32, *p++);
  return c32;
}
#endif

}  // namespace

uint32_t crc32c(uint32_t crc, const void* data, size_t size) {
  const auto* p = static_cast<const unsigned char*>(data);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~sse42(~crc, p, size);
#endif
  return ~portable(~crc, p, size);
}

}  // namespace cairn
