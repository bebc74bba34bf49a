#include "base/crc32c_bulk.h"

#include <array>
#include <cstring>

#include "base/crc32c.h"

namespace cairn {

#if defined(__x86_64__)
namespace {

// Shift holds what zero bytes make of a sum, for each value of each of its four bytes: sums are
// linear.
using Shift = std::array<std::array<uint32_t, 256>, 4>;

// One column for each bit of a sum: what becomes of it.
using Columns = std::array<uint32_t, 32>;

constexpr uint32_t times(const Columns& columns, uint32_t sum) {
  uint32_t result = 0;
  for (uint32_t bit = 0; bit < 32; ++bit)
    if ((sum >> bit & 1) != 0) result ^= columns[bit];
  return result;
}

// `bytes` is a power of two.
constexpr Shift make_shift(size_t bytes) {
  Columns columns{};  // of one zero bit
  columns[0] = 0x82f63b78U;
  for (uint32_t bit = 1; bit < 32; ++bit) columns[bit] = 1U << (bit - 1);
  for (size_t bits = 1; bits < 8 * bytes; bits *= 2) {
    Columns twice{};
    for (uint32_t bit = 0; bit < 32; ++bit) twice[bit] = times(columns, columns[bit]);
    columns = twice;
  }
  Shift shift{};
  for (uint32_t byte = 0; byte < 4; ++byte)
    for (uint32_t value = 0; value < 256; ++value)
      shift[byte][value] = times(columns, value << (8 * byte));
  return shift;
}

uint32_t shifted(const Shift& shift, uint32_t sum) {
  return shift[0][sum & 255] ^ shift[1][sum >> 8 & 255] ^ shift[2][sum >> 16 & 255] ^
         shift[3][sum >> 24];
}

// Each of the three sums takes so many bytes before they are joined.
constexpr size_t long_stream = 4096;
constexpr size_t short_stream = 256;
constexpr Shift by_long = make_shift(long_stream);
constexpr Shift by_short = make_shift(short_stream);

uint64_t word_at(const uint8_t* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

template <size_t stream>
__attribute__((target("sse4.2"))) uint32_t three_streams(uint32_t sum, const uint8_t* at,
                                                         const Shift& shift) {
  uint64_t a = sum;
  uint64_t b = 0;
  uint64_t c = 0;
  for (size_t i = 0; i < stream; i += 8) {
    a = __builtin_ia32_crc32di(a, word_at(at + i));
    b = __builtin_ia32_crc32di(b, word_at(at + stream + i));
    c = __builtin_ia32_crc32di(c, word_at(at + 2 * stream + i));
  }
  const uint32_t first_two = shifted(shift, static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b);
  return shifted(shift, first_two) ^ static_cast<uint32_t>(c);
}

}  // namespace
#endif

uint32_t crc32c_bulk(uint32_t crc, const void* data, size_t size) {
#if defined(__x86_64__)
  if (!detail::has_crc32c_instruction()) return crc32c(crc, data, size);
  const auto* at = static_cast<const uint8_t*>(data);
  uint32_t sum = ~crc;
  for (; size >= 3 * long_stream; size -= 3 * long_stream, at += 3 * long_stream)
    sum = three_streams<long_stream>(sum, at, by_long);
  for (; size >= 3 * short_stream; size -= 3 * short_stream, at += 3 * short_stream)
    sum = three_streams<short_stream>(sum, at, by_short);
  return crc32c(~sum, at, size);
#else
  return crc32c(crc, data, size);
#endif
}

}  // namespace cairn
