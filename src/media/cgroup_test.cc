#include "media/cgroup.h"

#include <gtest/gtest.h>

#include "support/fake_system.h"
#include "support/sizes.h"

namespace cairn::media {
namespace {

using test::mebibyte;

TEST(Cgroup, ParsesLimitsAndStatistics) {
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

TEST(Cgroup, FindsItsCgroup) {
  std::string hybrid = "12:pids:/a\n5:cpu,memory:/jobs/7\n1:name=systemd:/b\n0::/user.slice\n";
  EXPECT_EQ(parse_cgroup_path(hybrid, "memory"), "/jobs/7");
  EXPECT_EQ(parse_cgroup_path(hybrid, ""), "/user.slice");
  EXPECT_EQ(parse_cgroup_path("0::/x\n", "memory"), "");
  EXPECT_EQ(parse_cgroup_path("garbage", ""), "");
}

TEST(Cgroup, NeverGoesBelowNothing) {
  EXPECT_EQ(cgroup_leaves(100, 60, 10), 50U);
  EXPECT_EQ(cgroup_leaves(100, 160, 10), 0U);
  EXPECT_EQ(cgroup_leaves(100, 60, 90), 100U);
}

TEST(Cgroup, AMarginStays) {
  constexpr uint64_t gibibyte = uint64_t{1} << 30;
  EXPECT_EQ(cgroup_margin(0), 0U);
  EXPECT_EQ(cgroup_margin(32 * mebibyte), 8 * mebibyte);
  EXPECT_EQ(cgroup_margin(200 * mebibyte), 16 * mebibyte);
  EXPECT_EQ(cgroup_margin(gibibyte), 64 * mebibyte);
  EXPECT_EQ(cgroup_margin(64 * gibibyte), 256 * mebibyte);
  EXPECT_EQ(CgroupMemory({10 * mebibyte, gibibyte, "/a", ""}).for_pools(), 0U);
  EXPECT_EQ(CgroupMemory().for_pools(), no_limit);
}

class CgroupTree : public testing::Test {
 protected:
  FakeSystem system_;
};

TEST_F(CgroupTree, TheTightestCgroupAboveDecidesVersion2) {
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
  const CgroupMemory memory = cgroup_memory(system_.root());
  EXPECT_EQ(memory.left, 60 * mebibyte);
  EXPECT_EQ(memory.limit, 90 * mebibyte);
  EXPECT_EQ(memory.path, "/slurm/job_7");
  EXPECT_EQ(memory.file, system_.root().path(base + "/memory.high"));
  EXPECT_EQ(memory.for_pools(), 44 * mebibyte);
}

TEST_F(CgroupTree, Version1InAContainerIsReadAtTheMountPoint) {
  system_.file("/proc/self/cgroup", "4:memory:/docker/abc\n0::/\n");
  system_.file("/proc/self/mountinfo",
               "31 23 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  system_.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "52428800\n");
  system_.file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "31457280\n");
  system_.file("/sys/fs/cgroup/memory/memory.stat",
               "total_inactive_file 10485760\ntotal_active_file 0\n");
  const CgroupMemory memory = cgroup_memory(system_.root());
  EXPECT_EQ(memory.left, 30 * mebibyte);
  EXPECT_EQ(memory.file, system_.root().path("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  EXPECT_EQ(memory.for_pools(), 30 * mebibyte - 50 * mebibyte / 4);
}

TEST_F(CgroupTree, HybridSystemsHaveBothVersions) {
  system_.file("/proc/self/cgroup", "4:memory,cpu:/a/b\n3:blkio:/\n0::/user.slice\n");
  system_.file("/proc/self/mountinfo",
               "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
               "32 23 0:28 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n"
               "33 23 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  std::string found;
  for (const Cgroup& group : cgroups_of("memory", system_.root()))
    found += std::to_string(group.version) + " " + group.path + " ";
  EXPECT_EQ(found, "1 /a/b 1 /a 1 / 2 /user.slice 2 / ");
  EXPECT_EQ(cgroups_of("blkio", system_.root()).front().directory,
            system_.root().path("/sys/fs/cgroup/blkio"));
}

TEST_F(CgroupTree, NothingLimitsWhereNothingIsTold) {
  const CgroupMemory memory = cgroup_memory(system_.root());
  EXPECT_EQ(memory.for_pools(), no_limit);
  EXPECT_EQ(memory.file, "");
}

}  // namespace
}  // namespace cairn::media
