#include "base/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

std::string hex_of(const Sha256Hash& hash) {
  std::string text;
  for (const uint8_t byte : hash) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string hash_of(const std::string& text) { return hex_of(sha256(text.data(), text.size())); }

// FIPS 180-2, appendix B, and NIST's example of the empty message.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Around the length from which the padding needs a block of its own.
TEST(Sha256, LengthsAroundABlock) {
  EXPECT_EQ(hash_of(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(hash_of(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(hash_of(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(Sha256, PiecesEqualOneCall) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>(i * 7);
  const Sha256Hash whole = sha256(text.data(), text.size());
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 sum;
    sum.update(text.data(), cut);
    sum.update(text.data() + cut, text.size() - cut);
    EXPECT_EQ(sum.finish(), whole) << cut;
  }
}

}  // namespace
}  // namespace cairn
