// Tests segments on the media that this machine has, and the refusals that can be provoked.
#include "media/media.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "media/pmem2.h"
#include "support/detail_has.h"
#include "support/fake_system.h"
#include "support/sizes.h"

namespace cairn::media {
namespace {

using test::mebibyte;

class Segments : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    directory_ = std::string(GetParam()) + "/cairn-media-XXXXXX";
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    path_ = directory_ + "/segment.0";
  }
  void TearDown() override {
    unlink(path_.c_str());
    rmdir(directory_.c_str());
  }
  std::string directory_;
  std::string path_;
};

TEST_P(Segments, LivesThroughCreateReserveMapAndRemove) {
  Result<Description> medium = recognise(directory_.c_str());
  ASSERT_TRUE(medium.ok()) << last_detail();
  EXPECT_EQ(medium->kind == MediumKind::tmpfs, medium->is_volatile);
  EXPECT_GT(medium->size, 0U);
  mode_t before = umask(0777);
  Result<int> fd = create_segment(path_.c_str(), 8 * mebibyte);
  umask(before);
  ASSERT_TRUE(fd.ok()) << last_detail();
  struct stat info;
  ASSERT_EQ(fstat(*fd, &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
  EXPECT_EQ(info.st_blocks, 0);
  EXPECT_EQ(*segment_size(*fd), 8 * mebibyte);
  ASSERT_TRUE(reserve(*fd, 2 * mebibyte, 4 * mebibyte).ok()) << last_detail();
  ASSERT_EQ(fstat(*fd, &info), 0);
  EXPECT_GE(static_cast<uint64_t>(info.st_blocks) * 512, 4 * mebibyte);
  Result<Mapping> mapping = map(*fd, *medium, 2 * mebibyte, 4 * mebibyte);
  ASSERT_TRUE(mapping.ok()) << last_detail();
  const uint64_t unit = medium->large_pages ? 2 * mebibyte : 4096;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(mapping->base) % unit, 0U);
  std::memset(mapping->base, 0x77, mapping->size);
  uint8_t byte = 0;
  EXPECT_EQ(pread(*fd, &byte, 1, 6 * mebibyte - 1), 1);
  EXPECT_EQ(byte, 0x77);
  unmap(*mapping);
  EXPECT_EQ(mapping->base, nullptr);
  ASSERT_TRUE(release(*fd, 2 * mebibyte, 4 * mebibyte).ok());
  EXPECT_EQ(pread(*fd, &byte, 1, 6 * mebibyte - 1), 1);
  EXPECT_EQ(byte, 0);
  close(*fd);
  EXPECT_EQ(create_segment(path_.c_str(), mebibyte).code(), EEXIST);
  EXPECT_TRUE(test::detail_has(path_.c_str()));
  fd = open_segment(path_.c_str());
  ASSERT_TRUE(fd.ok());
  close(*fd);
  EXPECT_EQ(recognise(path_.c_str())->size, 8 * mebibyte);
  EXPECT_TRUE(remove_segment(path_.c_str()).ok());
  EXPECT_EQ(remove_segment(path_.c_str()).code(), ENOENT);
}

INSTANTIATE_TEST_SUITE_P(Media, Segments, testing::Values("/dev/shm", "/tmp", "/var/tmp"),
                         [](const auto& test) {
                           std::string name = test.param + 1;
                           for (char& c : name) {
                             if (c == '/') c = '_';
                           }
                           return name;
                         });

class Refusals : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = "/dev/shm/cairn-refusals-XXXXXX";
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
    path_ = directory_ + "/segment";
  }
  void TearDown() override {
    unlink(path_.c_str());
    rmdir(directory_.c_str());
  }
  std::string directory_;
  std::string path_;
};

TEST_F(Refusals, PathsThatCannotHoldAPool) {
  EXPECT_EQ(recognise("/no/such/directory").code(), ENOENT);
  EXPECT_TRUE(test::detail_has("/no/such/directory"));
  EXPECT_EQ(recognise("/dev/null").code(), ENODEV);
  EXPECT_TRUE(test::detail_has("not a dax device"));
  EXPECT_FALSE(recognise("/proc/self").ok());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(recognise(path_.c_str()).code(), EINVAL);
  EXPECT_EQ(open_segment(path_.c_str()).code(), EINVAL);
  EXPECT_TRUE(test::detail_has("neither a regular file nor a dax device"));
}

TEST_F(Refusals, OpenDevicesThatAreNoDaxDevices) {
  Result<int> null = open_segment("/dev/null");
  ASSERT_TRUE(null.ok()) << last_detail();
  EXPECT_EQ(recognise_device(*null, "/dev/null").code(), ENODEV);
  EXPECT_TRUE(test::detail_has("/dev/null: a character device, but not a dax device"))
      << last_detail();
  close(*null);
}

// Expects libpmem2's answer for a plain file, if it is installed; else, and if it cannot tell, the
// default.
TEST_F(Refusals, GranularityOfWhatIsNoPersistentMemory) {
  using persist::Granularity;
  EXPECT_EQ(pmem2_granularity(-1, Granularity::cache_line), Granularity::cache_line);
  void* library = dlopen("libpmem2.so.1", RTLD_NOW | RTLD_LOCAL);
  char plain[] = "/tmp/cairn-plain-XXXXXX";
  const int fd = mkstemp(plain);
  ASSERT_GE(fd, 0);
  unlink(plain);
  ASSERT_EQ(ftruncate(fd, 8192), 0);
  EXPECT_EQ(pmem2_granularity(fd, Granularity::byte),
            library != nullptr ? Granularity::page : Granularity::byte);
  close(fd);
  if (library != nullptr) dlclose(library);
}

TEST_F(Refusals, FilesThatOthersMayWrite) {
  Result<int> fd = create_segment(path_.c_str(), 4096);
  ASSERT_TRUE(fd.ok());
  ASSERT_EQ(fchmod(*fd, 0666), 0);
  EXPECT_EQ(open_segment(path_.c_str()).code(), EPERM);
  EXPECT_TRUE(test::detail_has("others may write it")) << last_detail();
  Result<int> anyone = open_segment(path_.c_str(), Access::read_only, SegmentOwner::anyone);
  ASSERT_TRUE(anyone.ok());
  close(*anyone);
  ASSERT_EQ(fchmod(*fd, 0600), 0);
  if (geteuid() == 0) {
    ASSERT_EQ(fchown(*fd, 12345, 12345), 0);
    EXPECT_EQ(open_segment(path_.c_str()).code(), EPERM);
    EXPECT_TRUE(test::detail_has("belongs to user 12345")) << last_detail();
  }
  close(*fd);
}

TEST_F(Refusals, SymbolicLinks) {
  ASSERT_EQ(symlink("/etc/passwd", path_.c_str()), 0);
  EXPECT_EQ(open_segment(path_.c_str()).code(), ELOOP);
  EXPECT_TRUE(test::detail_has("symbolic link"));
  EXPECT_EQ(create_segment(path_.c_str(), 4096).code(), EEXIST);
}

TEST_F(Refusals, MapSyncAndOddRanges) {
  Result<int> fd = create_segment(path_.c_str(), 4 * mebibyte);
  ASSERT_TRUE(fd.ok());
  Description medium;
  medium.kind = MediumKind::fsdax;
  // tmpfs knows no MAP_SYNC, so it stands in for a file system that refuses it.
  EXPECT_EQ(map(*fd, medium, 0, 2 * mebibyte).code(), EOPNOTSUPP);
  EXPECT_TRUE(test::detail_has("refused MAP_SYNC")) << last_detail();
  medium.kind = MediumKind::devdax;
  medium.mapping_unit = 2 * mebibyte;
  EXPECT_EQ(map(*fd, medium, 0, mebibyte).code(), EINVAL);
  EXPECT_EQ(map(*fd, medium, 4096, 2 * mebibyte).code(), EINVAL);
  close(*fd);
}

TEST_F(Refusals, NoRoomIsSaidByReserve) {
  Result<int> fd = create_segment(path_.c_str(), uint64_t{1} << 50);
  ASSERT_TRUE(fd.ok()) << last_detail();
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  rlimit small = {uint64_t{1} << 20, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Result<int> beyond = create_segment((directory_ + "/big").c_str(), 2 * mebibyte);
  EXPECT_EQ(beyond.code(), EFBIG);
  EXPECT_NE(access((directory_ + "/big").c_str(), F_OK), 0) << "nothing is left behind";
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  close(*fd);
}

TEST(Recognise, LargePagesByMountOptionAndPolicy) {
  struct stat info;
  ASSERT_EQ(stat("/dev/shm", &info), 0);
  std::string device =
      std::to_string(major(info.st_dev)) + ":" + std::to_string(minor(info.st_dev));
  auto large = [&](const char* huge, const char* policy) {
    FakeSystem system;
    system.file(
        "/proc/self/mountinfo",
        "25 1 " + device + " / /dev/shm rw,nosuid shared:2 - tmpfs tmpfs rw,size=1k" + huge + "\n");
    system.file("/sys/kernel/mm/transparent_hugepage/shmem_enabled", policy);
    Result<Description> medium = recognise("/dev/shm", system.root());
    EXPECT_TRUE(medium.ok()) << last_detail();
    return medium->large_pages;
  };
  EXPECT_FALSE(large("", "always within_size advise [never] deny force"));
  EXPECT_TRUE(large(",huge=always", "always within_size advise [never] deny force"));
  EXPECT_TRUE(large(",huge=within_size", ""));
  EXPECT_FALSE(large(",huge=advise", ""));
  EXPECT_FALSE(large(",huge=always", "always within_size advise never [deny] force"));
  EXPECT_TRUE(large("", "always within_size advise never deny [force]"));
}

TEST(FileSystem, ParsesMountinfo) {
  std::vector<Mount> mounts = parse_mountinfo(
      "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
      "garbage\n"
      "37 35 0:44 / /mnt rw - tmpfs none rw,huge=always\n");
  ASSERT_EQ(mounts.size(), 2U);
  EXPECT_EQ(mounts[0].point, "/mnt 2");
  EXPECT_EQ(mounts[0].root, "/mnt1");
  EXPECT_EQ(mounts[0].type, "ext3");
  EXPECT_EQ(mount_option(mounts[0], "errors"), "continue");
  EXPECT_EQ(mount_option(mounts[0], "noatime"), "1");
  EXPECT_EQ(mount_option(mounts[1], "huge"), "always");
  EXPECT_EQ(find_mount(mounts, std::string("/mnt/x")), &mounts[1]);
  EXPECT_EQ(find_mount(mounts, std::string("/mnt 2/x")), &mounts[0]);
  EXPECT_EQ(find_mount(mounts, std::string("/other")), nullptr);
}

TEST(FileSystem, KnowsTheNetworkOnes) {
  EXPECT_STREQ(network_file_system(0x6969), "NFS");
  EXPECT_STREQ(network_file_system(0x0BD00BD0), "Lustre");
  EXPECT_EQ(network_file_system(0x01021994), nullptr);
}

}  // namespace
}  // namespace cairn::media
