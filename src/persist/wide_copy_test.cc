#include "persist/wide_copy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "persist/backend.h"

namespace cairn::persist {
namespace {

constexpr size_t margin = 128;

// Copies `size` bytes between places `to` and `from` bytes behind the start of a page, and looks at what is around.
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
void check_all(Copy copy) {
  for (size_t to = 0; to < 64; ++to) {
    for (const size_t from : {0, 1, 16, 31, 33, 63}) {
      for (const size_t size : {2048, 2049, 2079, 2080, 2175, 2176, 4096, 5000, 65536})
        check_copy(copy, to, from, size);
    }
  }
}

TEST(WideCopy, CopiesFromAndToAnywhere) {
  if (x86_features().avx2)
    check_all(copy_wide);
  else
    EXPECT_FALSE(copies_wide) << "this processor cannot";
}

TEST(WideCopy, IsChosenBySizeOnly) {
  check_all(copy_bytes);
  for (const size_t size : {1, 31, 2047}) check_copy(copy_bytes, 5, 3, size);
}

}  // namespace
}  // namespace cairn::persist
