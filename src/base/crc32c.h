// CRC-32C (Castagnoli, RFC 3720 appendix B.4), for the small records of the metadata path; large
// pieces: crc32c_bulk.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn {

// Extends `crc` (0 to start with) by `size` bytes at `data`.
uint32_t crc32c(uint32_t crc, const void* data, size_t size);

namespace detail {
// Whether the processor has the instruction for it.
bool has_crc32c_instruction();
}  // namespace detail

}  // namespace cairn
