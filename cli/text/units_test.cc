#include "text/units.h"

#include <gtest/gtest.h>

#include "text/error.h"

namespace cairn::cli {
namespace {

TEST(Units, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_size("0").bytes, 0U);
  EXPECT_EQ(parse_size("4096").bytes, 4096U);
  EXPECT_EQ(parse_size("4K").bytes, 4096U);
  EXPECT_EQ(parse_size("4k").bytes, 4096U);
  EXPECT_EQ(parse_size("4KiB").bytes, 4096U);
  EXPECT_EQ(parse_size("4KB").bytes, 4000U);
  EXPECT_EQ(parse_size("10 GiB").bytes, 10ULL << 30);
  EXPECT_EQ(parse_size("1.5G").bytes, 3ULL << 29);
  EXPECT_EQ(parse_size("2T").bytes, 2ULL << 40);
  EXPECT_EQ(parse_size("512B").bytes, 512U);
  const Size half = parse_size("50%");
  EXPECT_TRUE(half.is_percent);
  EXPECT_DOUBLE_EQ(half.percent, 50);
}

TEST(Units, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "G", "4X", "-1", "4 G B", "1e3", "nan", "inf", "101%", "0%", "4Kb2", "99999999P"}) {
    try {
      parse_size(text);
      ADD_FAILURE() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), exit_usage);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos);
    }
  }
  EXPECT_THROW(parse_bytes("50%"), Error);
}

TEST(Units, PrintsSizes) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(4096), "4 KiB");
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  EXPECT_EQ(format_size((1ULL << 20) - 1), "1 MiB");
  EXPECT_EQ(format_size(200ULL << 30), "200 GiB");
  EXPECT_EQ(format_size(UINT64_MAX), "16 EiB");
  EXPECT_EQ(format_rate(1 << 20, 0.5), "2 MiB/s");
  EXPECT_EQ(format_rate(1, 0), "-");
}

TEST(Units, PrintsDurations) {
  EXPECT_EQ(format_duration(0.44), "0.4 s");
  EXPECT_EQ(format_duration(59.9), "59 s");
  EXPECT_EQ(format_duration(185), "3:05 min");
  EXPECT_EQ(format_duration(3730), "1:02:10 h");
}

// A printed size must read back as about the same.
TEST(Units, PrintedSizesReadBack) {
  for (uint64_t bytes = 1; bytes < 1ULL << 60; bytes = bytes * 3 + 1) {
    const auto back = static_cast<double>(parse_size(format_size(bytes)).bytes);
    EXPECT_NEAR(back / static_cast<double>(bytes), 1, 0.05) << bytes;
  }
}

}  // namespace
}  // namespace cairn::cli
