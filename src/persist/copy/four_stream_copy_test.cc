#include "persist/copy/four_stream_copy.h"

#include <gtest/gtest.h>

#include "persist/core/cpu.h"
#include "support/copy_checks.h"

namespace cairn::persist {
namespace {

TEST(QuarteredCopy, CopiesFromAndToAnywhere) {
  if (x86_features().avx2)
    check_all(copy_quartered, {32768, 32769, 47008, 49151, 49152, 65536, 65599, 70000});
  else
    EXPECT_FALSE(copies_quartered) << "this processor cannot";
}

TEST(QuarteredCopy, IsForLinesOfLargePieces) {
  alignas(64) static uint8_t bytes[65];
  EXPECT_EQ(is_better_quartered(bytes, 32768), copies_quartered);
  for (const size_t size : {size_t{32767}, wide_copy_always})
    EXPECT_FALSE(is_better_quartered(bytes, size)) << size;
  EXPECT_FALSE(is_better_quartered(bytes + 32, 32768));
}

}  // namespace
}  // namespace cairn::persist
