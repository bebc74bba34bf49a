#include "checkpoint/record/attributes.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn::checkpoint {
namespace {

std::string_view text_of(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<uint8_t> some() {
  std::vector<uint8_t> bytes;
  const double values[] = {1.5, -2};
  EXPECT_TRUE(
      append_attribute(
          &bytes,
          {"range", Type::float64, 2, {reinterpret_cast<const char*>(values), sizeof values}})
          .ok());
  EXPECT_TRUE(append_attribute(&bytes, {"units", Type::character, 5, "m s-1"}).ok());
  EXPECT_TRUE(append_attribute(&bytes, {"without", Type::character, 0, ""}).ok());
  return bytes;
}

TEST(Attributes, AreReadAsTheyWereMade) {
  const auto bytes = some();
  EXPECT_EQ(bytes.size() % 8, 0U);
  ASSERT_TRUE(check_attributes(text_of(bytes)).ok()) << last_detail();
  AttributeReader reader(text_of(bytes));
  Attribute attribute;
  ASSERT_TRUE(reader.next(&attribute));
  EXPECT_EQ(attribute.key, "range");
  EXPECT_EQ(attribute.count, 2U);
  ASSERT_TRUE(reader.next(&attribute));
  EXPECT_EQ(attribute.key, "units");
  EXPECT_EQ(attribute.values, "m s-1");
  ASSERT_TRUE(reader.next(&attribute));
  EXPECT_EQ(attribute.key, "without");
  EXPECT_EQ(attribute.values, "");
  EXPECT_FALSE(reader.next(&attribute));
  EXPECT_TRUE(reader.is_sound());
  EXPECT_TRUE(check_attributes({}).ok());
}

TEST(Attributes, RefuseWhatIsNone) {
  std::vector<uint8_t> bytes;
  EXPECT_EQ(append_attribute(&bytes, {"a", Type::float64, 2, "12345678"}).code(), EINVAL);
  EXPECT_EQ(append_attribute(&bytes, {"a", Type::opaque, 0, ""}).code(), EINVAL);
  EXPECT_EQ(append_attribute(&bytes, {"", Type::character, 1, "a"}).code(), EINVAL);
  EXPECT_EQ(append_attribute(&bytes, {"a", static_cast<Type>(99), 1, "a"}).code(), EINVAL);
  const std::string large(size_t{64} << 10, 'a');
  EXPECT_EQ(
      append_attribute(&bytes, {"a", Type::character, static_cast<uint32_t>(large.size()), large})
          .code(),
      E2BIG);
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(check_attributes(large + "a").code(), E2BIG);
  EXPECT_TRUE(append_attribute(&bytes, {"b", Type::character, 1, "1"}).ok());
  EXPECT_TRUE(append_attribute(&bytes, {"b", Type::character, 1, "2"}).ok());
  EXPECT_EQ(check_attributes(text_of(bytes)).code(), EINVAL) << "one key twice";
}

// Tries each byte with each value, and each length: refused, or read without a step beyond the end
// (which the sanitizers watch).
TEST(Attributes, DamageIsRefusedOrSound) {
  const auto bytes = some();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto status = check_attributes(text_of(bytes).substr(0, size));
    const bool is_between_two = size == 0 || size == 32 || size == 56;
    EXPECT_EQ(status.ok(), is_between_two) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      auto other = bytes;
      other[at] = static_cast<uint8_t>(value);
      if (!check_attributes(text_of(other)).ok()) continue;
      AttributeReader reader(text_of(other));
      Attribute attribute;
      while (reader.next(&attribute))
        ASSERT_TRUE(!attribute.values.empty() || attribute.type == Type::character);
      ASSERT_TRUE(reader.is_sound());
    }
}

}  // namespace
}  // namespace cairn::checkpoint
