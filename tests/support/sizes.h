// Sizes in bytes, for tests.
#pragma once

#include <cstdint>

namespace cairn::test {

constexpr uint64_t block_bytes = 4096;  // of a pool
constexpr uint64_t mebibyte = uint64_t{1} << 20;

}  // namespace cairn::test
