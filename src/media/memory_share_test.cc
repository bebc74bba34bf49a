#include "media/memory_share.h"

#include <gtest/gtest.h>

#include "support/fake_system.h"
#include "support/sizes.h"

namespace cairn::media {
namespace {

using test::mebibyte;

TEST(MemoryShare, ParsesMeminfo) {
  std::string text = "MemTotal:       24576 kB\nMemFree:   100 kB\nMemAvailable:    2048 kB\n";
  EXPECT_EQ(parse_meminfo(text, "MemAvailable"), 2 * mebibyte);
  EXPECT_EQ(parse_meminfo(text, "MemTotal"), 24 * mebibyte);
  EXPECT_EQ(parse_meminfo(text, "Total"), no_limit);
  EXPECT_EQ(parse_meminfo("", "MemAvailable"), no_limit);
}

class MemoryShareTree : public testing::Test {
 protected:
  void SetUp() override { system_.file("/proc/meminfo", "MemAvailable: 1048576 kB\n"); }
  MemoryShare share() {
    Result<MemoryShare> answer = memory_share("/dev/shm", system_.root());
    EXPECT_TRUE(answer.ok());
    return *answer;
  }
  FakeSystem system_;
};

TEST_F(MemoryShareTree, WithoutCgroupsTheMachineOrTheFileSystemDecides) {
  MemoryShare answer = share();
  EXPECT_LE(answer.bytes, 1024 * mebibyte);
  EXPECT_TRUE(answer.limited_by == "the machine's memory" || answer.limited_by == "/dev/shm");
  EXPECT_EQ(memory_share("/no/such/place", system_.root()).code(), ENOENT);
  EXPECT_TRUE(memory_share("/dev/shm").ok());
}

}  // namespace
}  // namespace cairn::media
