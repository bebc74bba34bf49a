#include "media/memory_share.h"

#include <gtest/gtest.h>

#include "support/fake_system.h"

namespace cairn::media {
namespace {

constexpr uint64_t mebibyte = uint64_t{1} << 20;

TEST(MemoryShare, ParsesMeminfo) {
  std::string text = "MemTotal:       24576 kB\nMemFree:   100 kB\nMemAvailable:    2048 kB\n";
  EXPECT_EQ(parse_meminfo(text, "MemAvailable"), 2 * mebibyte);
  EXPECT_EQ(parse_meminfo(text, "MemTotal"), 24 * mebibyte);
  EXPECT_EQ(parse_meminfo(text, "Total"), no_limit);
  EXPECT_EQ(parse_meminfo("", "MemAvailable"), no_limit);
}

TEST(MemoryShare, ParsesLimitsAndStatistics) {
  EXPECT_EQ(parse_limit("max\n"), no_limit);
  EXPECT_EQ(parse_limit(""), no_limit);
  EXPECT_EQ(parse_limit("9223372036854771712"), no_limit);
  EXPECT_EQ(parse_limit("1048576"), mebibyte);
  std::string text = "anon 5\nfile 6\ninactive_file 70\nactive_file 8\n";
  EXPECT_EQ(parse_stat(text, "inactive_file"), 70U);
  EXPECT_EQ(parse_stat(text, "active_file"), 8U);
  EXPECT_EQ(parse_stat(text, "anon"), 5U);
  EXPECT_EQ(parse_stat(text, "slab"), 0U);
}

TEST(MemoryShare, FindsItsCgroup) {
  std::string hybrid = "12:pids:/a\n5:cpu,memory:/jobs/7\n1:name=systemd:/b\n0::/user.slice\n";
  EXPECT_EQ(parse_cgroup_path(hybrid, "memory"), "/jobs/7");
  EXPECT_EQ(parse_cgroup_path(hybrid, ""), "/user.slice");
  EXPECT_EQ(parse_cgroup_path("0::/x\n", "memory"), "");
  EXPECT_EQ(parse_cgroup_path("garbage", ""), "");
}

TEST(MemoryShare, NeverGoesBelowNothing) {
  EXPECT_EQ(cgroup_leaves(100, 60, 10), 50U);
  EXPECT_EQ(cgroup_leaves(100, 160, 10), 0U);
  EXPECT_EQ(cgroup_leaves(100, 60, 90), 100U);
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

TEST_F(MemoryShareTree, TheTightestCgroupAboveDecidesVersion2) {
  system_.file("/proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  system_.file("/proc/self/mountinfo",
               "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw\n");
  std::string base = "/sys/fs/cgroup/slurm/job_7";
  system_.file(base + "/step_0/memory.max", "max\n");
  system_.file(base + "/step_0/memory.current", "1000\n");
  system_.file(base + "/memory.max", "104857600\n");
  system_.file(base + "/memory.high", "94371840\n");
  system_.file(base + "/memory.current", "41943040\n");
  system_.file(base + "/memory.stat",
               "anon 1\ninactive_file 10485760\nactive_file 0\nslab_reclaimable 0\n");
  MemoryShare answer = share();
  EXPECT_EQ(answer.bytes, 60 * mebibyte);
  EXPECT_EQ(answer.limited_by, "cgroup /slurm/job_7");
}

TEST_F(MemoryShareTree, Version1InAContainerIsReadAtTheMountPoint) {
  system_.file("/proc/self/cgroup", "4:memory:/docker/abc\n0::/\n");
  system_.file("/proc/self/mountinfo",
               "31 23 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  system_.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "52428800\n");
  system_.file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "31457280\n");
  system_.file("/sys/fs/cgroup/memory/memory.stat",
               "total_inactive_file 10485760\ntotal_active_file 0\n");
  EXPECT_EQ(share().bytes, 30 * mebibyte);
}

TEST_F(MemoryShareTree, WithoutCgroupsTheMachineOrTheFileSystemDecides) {
  MemoryShare answer = share();
  EXPECT_LE(answer.bytes, 1024 * mebibyte);
  EXPECT_TRUE(answer.limited_by == "the machine's memory" || answer.limited_by == "/dev/shm");
  EXPECT_EQ(memory_share("/no/such/place", system_.root()).code(), ENOENT);
  EXPECT_TRUE(memory_share("/dev/shm").ok());
}

}  // namespace
}  // namespace cairn::media
