// What a copy has to do, wherever from and to: for the tests of copies.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace cairn::persist {

inline constexpr size_t margin = 128;

// Copies `size` bytes between places `to` and `from` bytes behind the start of a page, and looks at
// what is around.
template <typename Copy>
void check_copy(Copy copy, size_t to, size_t from, size_t size) {
  alignas(4096) static uint8_t target[margin + 70000 + margin];
  alignas(4096) static uint8_t source[70000 + margin];
  for (size_t i = 0; i < size; ++i) source[from + i] = static_cast<uint8_t>(i * 7 + i / 251 + 1);
  std::memset(target, 0, sizeof target);
  copy(target + margin + to, source + from, size);
  ASSERT_EQ(std::memcmp(target + margin + to, source + from, size), 0)
      << size << " bytes from +" << from << " to +" << to;
  for (size_t i = 0; i < margin; ++i) {
    ASSERT_EQ(target[to + i], 0) << "before " << size << " bytes to +" << to;
    ASSERT_EQ(target[margin + to + size + i % (sizeof target - margin - to - size)], 0)
        << "behind " << size << " bytes to +" << to;
  }
}

template <typename Copy>
void check_all(Copy copy, std::initializer_list<size_t> sizes) {
  for (size_t to = 0; to < 64; ++to) {
    for (const size_t from : {0, 1, 16, 31, 33, 63}) {
      for (const size_t size : sizes) check_copy(copy, to, from, size);
    }
  }
}

}  // namespace cairn::persist
