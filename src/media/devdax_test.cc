// Tests dax devices with fake sysfs trees: there is no device here that could be opened.
#include "media/devdax.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

#include "support/detail_has.h"
#include "support/fake_system.h"

namespace cairn::media {
namespace {

constexpr const char* region = "/sys/devices/LNXSYSTM:00/ndbus0/region0";

class DevDax : public testing::Test {
 protected:
  void device(const std::string& driver) {
    std::string directory = std::string(region) + "/dax0.0/dax0.0";
    system_.file(directory + "/size", "4294967296\n");
    system_.file(directory + "/align", "2097152\n");
    system_.directory("/sys/bus/dax");
    system_.link(directory + "/subsystem", "/sys/bus/dax");
    if (!driver.empty()) {
      system_.directory("/sys/bus/dax/drivers/" + driver);
      system_.link(directory + "/driver", "/sys/bus/dax/drivers/" + driver);
    }
    system_.link("/sys/dev/char/252:7", directory);
  }
  Result<DaxDevice> inspect() {
    return inspect_dax(makedev(252, 7), "/dev/dax0.0", system_.root());
  }

  FakeSystem system_;
};

TEST_F(DevDax, ReadsSizeAlignmentAndDomain) {
  device("device_dax");
  system_.file(std::string(region) + "/persistence_domain", "memory_controller\n");
  Result<DaxDevice> dax = inspect();
  ASSERT_TRUE(dax.ok()) << last_detail();
  EXPECT_EQ(dax->name, "dax0.0");
  EXPECT_EQ(dax->size, uint64_t{4} << 30);
  EXPECT_EQ(dax->align, uint64_t{2} << 20);
  EXPECT_FALSE(dax->cache_is_safe);
}

TEST_F(DevDax, KnowsASafeCache) {
  device("device_dax");
  system_.file(std::string(region) + "/persistence_domain", "cpu_cache\n");
  Result<DaxDevice> dax = inspect();
  ASSERT_TRUE(dax.ok());
  EXPECT_TRUE(dax->cache_is_safe);
}

TEST_F(DevDax, NamesTheModeAndTheCommandThatChangesIt) {
  device("kmem");
  EXPECT_EQ(inspect().code(), ENODEV);
  EXPECT_TRUE(test::detail_has("system-ram mode")) << last_detail();
  EXPECT_TRUE(test::detail_has("daxctl reconfigure-device --mode=devdax dax0.0")) << last_detail();
  EXPECT_TRUE(test::detail_has("/dev/dax0.0"));
}

TEST_F(DevDax, NamesFsdevDax) {
  device("fsdev_dax");
  EXPECT_EQ(inspect().code(), ENODEV);
  EXPECT_TRUE(test::detail_has("fsdev_dax mode") && test::detail_has("--mode=devdax dax0.0"))
      << last_detail();
}

TEST_F(DevDax, NamesADisabledOrForeignDevice) {
  device("");
  EXPECT_EQ(inspect().code(), ENODEV);
  EXPECT_TRUE(test::detail_has("daxctl enable-device dax0.0")) << last_detail();
}

TEST_F(DevDax, NamesAnUnknownDriver) {
  device("vendor_dax");
  EXPECT_EQ(inspect().code(), ENODEV);
  EXPECT_TRUE(test::detail_has("driver vendor_dax")) << last_detail();
}

TEST_F(DevDax, RefusesOtherCharacterDevices) {
  EXPECT_EQ(inspect().code(), ENODEV);
  EXPECT_TRUE(test::detail_has("not a dax device")) << last_detail();
}

TEST_F(DevDax, RefusesOneTooSmall) {
  device("device_dax");
  system_.file(std::string(region) + "/dax0.0/dax0.0/size", "1048576\n");
  EXPECT_EQ(inspect().code(), ENOSPC);
}

TEST_F(DevDax, OlderKernelsKeepTheAlignmentAtTheRegion) {
  device("device_dax");
  system_.file(std::string(region) + "/dax0.0/dax0.0/align", "");
  system_.file(std::string(region) + "/dax0.0/dax_region/align", "4096\n");
  Result<DaxDevice> dax = inspect();
  ASSERT_TRUE(dax.ok());
  EXPECT_EQ(dax->align, 4096U);
}

TEST_F(DevDax, TellsWhatToDoWithAPersistentBlockDevice) {
  system_.directory("/sys/devices/ndbus0/region0/namespace0.0");
  system_.file("/sys/devices/ndbus0/region0/namespace0.0/mode", "raw\n");
  system_.directory("/sys/devices/ndbus0/region0/namespace0.0/block/pmem0");
  system_.link("/sys/devices/ndbus0/region0/namespace0.0/block/pmem0/device",
               "/sys/devices/ndbus0/region0/namespace0.0");
  system_.link("/sys/dev/block/259:0", "/sys/devices/ndbus0/region0/namespace0.0/block/pmem0");
  Status refusal = refuse_block_device(makedev(259, 0), "/dev/pmem0", system_.root());
  EXPECT_EQ(refusal.code(), EOPNOTSUPP);
  EXPECT_TRUE(test::detail_has("ndctl create-namespace -f -e namespace0.0 --mode=devdax"))
      << last_detail();
  EXPECT_EQ(refuse_block_device(makedev(8, 0), "/dev/sda", system_.root()).code(), EOPNOTSUPP);
  EXPECT_TRUE(test::detail_has("a block device; give a directory")) << last_detail();
}

}  // namespace
}  // namespace cairn::media
