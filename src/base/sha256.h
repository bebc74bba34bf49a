// Sha256 computes SHA-256 (FIPS 180-4) for records that are named by their contents.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cairn {

using Sha256Hash = std::array<uint8_t, 32>;

class Sha256 {
 public:
  void update(const void* data, size_t size);
  // The hash of all updates. The object is of no further use.
  Sha256Hash finish();

 private:
  void compress(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_{};  // the first total_ % 64 bytes wait for the rest of their block
  uint64_t total_ = 0;
};

inline Sha256Hash sha256(const void* data, size_t size) {
  Sha256 sum;
  sum.update(data, size);
  return sum.finish();
}

}  // namespace cairn
