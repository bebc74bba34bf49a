// crc32c_bulk computes CRC-32C for large pieces, such as arrays.
// Three sums run side by side, because the processor begins one in each cycle and takes three.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn {

// Equal to crc32c(crc, data, size).
uint32_t crc32c_bulk(uint32_t crc, const void* data, size_t size);

}  // namespace cairn
