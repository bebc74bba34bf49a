#include "checkpoint/record/types.h"

#include <gtest/gtest.h>

#include <array>

namespace cairn::checkpoint {
namespace {

TEST(Types, SizesAreThoseOfTheLanguage) {
  EXPECT_TRUE(check_element(Type::int32, sizeof(int32_t)).ok());
  EXPECT_TRUE(check_element(Type::float64, sizeof(double)).ok());
  EXPECT_TRUE(check_element(Type::float80, 16).ok());
  EXPECT_TRUE(check_element(Type::character, 80).ok());
  EXPECT_TRUE(check_element(Type::opaque, uint64_t{1} << 31).ok());
}

TEST(Types, RefusesWhatTheFormatDoesNotHave) {
  EXPECT_EQ(check_element(Type::int32, 8).code(), EINVAL);
  EXPECT_EQ(check_element(Type::character, 0).code(), EINVAL);
  EXPECT_EQ(check_element(Type::opaque, (uint64_t{1} << 31) + 1).code(), EOVERFLOW);
  for (const int number : {0, 15, 16, 21, 23, 30, 255})
    EXPECT_EQ(check_element(static_cast<Type>(number), 4).code(), EINVAL) << number;
}

TEST(Types, ClearsPaddingOnly) {
  std::array<uint8_t, 32> bytes;
  bytes.fill(7);
  clear_padding(Type::float64, bytes.data(), bytes.size());
  for (const uint8_t byte : bytes) EXPECT_EQ(byte, 7);
  clear_padding(Type::complex_float80, bytes.data(), bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], i % 16 < 10 ? 7 : 0) << i;
}

}  // namespace
}  // namespace cairn::checkpoint
