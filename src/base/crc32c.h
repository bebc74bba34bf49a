// CRC-32C (Castagnoli, RFC 3720 appendix B.4), for the small records of the metadata path.
// Bulk checksums (seal, drain) use ISA-L where a library may bring dependencies; this one may not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn {

// Extends `crc` (0 to start with) by `size` bytes at `data`.
uint32_t crc32c(uint32_t crc, const void* data, size_t size);

}  // namespace cairn
