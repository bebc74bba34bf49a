#include "cluster/record/codec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::cluster {
namespace {

TEST(CodecTest, GivesBackWhatWasPut) {
  Packer out;
  out.put(uint32_t{7});
  out.text("");
  out.text(std::string("a\0b", 3));
  out.put(UINT64_MAX);
  Unpacker in(out.bytes.data(), out.bytes.size());
  EXPECT_EQ(in.get<uint32_t>(), 7U);
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.text(), std::string("a\0b", 3));
  EXPECT_EQ(in.get<uint64_t>(), UINT64_MAX);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.left(), 0U);
}

TEST(CodecTest, StaysAtTheEndOnceThereIsTooLittle) {
  const std::vector<uint8_t> bytes = {1, 2, 3, 4, 5};
  Unpacker in(bytes.data(), bytes.size());
  EXPECT_EQ(in.get<uint64_t>(), 0U);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.get<uint8_t>(), 0U);  // though a byte is there
  EXPECT_EQ(in.left(), 0U);
}

// A length that another program wrote must not become an allocation of its size.
TEST(CodecTest, RefusesATextLongerThanWhatIsLeft) {
  Packer out;
  out.put(UINT32_MAX);
  out.append("abc", 3);
  Unpacker in(out.bytes.data(), out.bytes.size());
  EXPECT_EQ(in.text(), "");
  EXPECT_FALSE(in.ok());
}

}  // namespace
}  // namespace cairn::cluster
