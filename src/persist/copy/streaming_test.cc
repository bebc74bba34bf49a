#include "persist/copy/streaming.h"

#include <gtest/gtest.h>

#include <vector>

#include "persist/machine/measure_streaming.h"

namespace cairn::persist {
namespace {

TEST(Streaming, OnlyLongRunsAndLargePieces) {
  std::vector<uint8_t> memory(size_t{1} << 20);
  const uint8_t* base = memory.data();
  EXPECT_FALSE(continues_stream(base, 4096));
  EXPECT_TRUE(continues_stream(base + 500000, stream_always));
  // A run earns its way past the cache, and loses it when it jumps.
  size_t at = 0;
  int cached = 0;
  EXPECT_FALSE(continues_stream(base, 4096));
  for (at = 4096; !continues_stream(base + at, 4096); at += 4096) ++cached;
  EXPECT_EQ(cached, static_cast<int>(stream_run_min / 4096) - 1);
  EXPECT_TRUE(continues_stream(base + at + 4096, 4096));
  EXPECT_FALSE(continues_stream(base + at, 4096));
}

TEST(Streaming, MeasuresAPowerOfTwo) {
  size_t found = measure_stream_min();
  if (found == SIZE_MAX) return;
  EXPECT_GE(found, 4096U);
  EXPECT_EQ(found & (found - 1), 0U);
}

}  // namespace
}  // namespace cairn::persist
