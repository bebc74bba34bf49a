// Damaged, foreign, old and future pools: each gets a clear message, nothing crashes or hangs.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <vector>

#include "base/crc32c.h"
#include "format/layout.h"
#include "model/own_namespaces.h"
#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

using format::Superblock;

uint64_t* word_in(std::vector<uint8_t>& block, size_t offset) {
  return reinterpret_cast<uint64_t*>(block.data() + offset);
}

// Changes both superblocks; their checksums are made right again.
void change_superblocks(const std::string& segment,
                        const std::function<void(std::vector<uint8_t>&)>& change) {
  std::fstream file(segment, std::ios::in | std::ios::out | std::ios::binary);
  for (int copy = 0; copy < 2; ++copy) {
    std::vector<uint8_t> block(format::block_size);
    file.seekg(copy * 4096);
    file.read(reinterpret_cast<char*>(block.data()), 4096);
    change(block);
    *word_in(block, offsetof(Superblock, checksum)) = crc32c(0, block.data(), 4096 - 8);
    file.seekp(copy * 4096);
    file.write(reinterpret_cast<const char*>(block.data()), 4096);
  }
}

class DamagedImage : public testing::Test {
 protected:
  DamagedImage() {
    make_pool(path, uint64_t{8} << 20, 8);
    cairn_pool* pool = attach(path);
    cairn_file* file = nullptr;
    EXPECT_EQ(cairn_mkdir(pool, CAIRN_ROOT, "d", 0700), 0);
    for (const char* name : {"a", "b", "d/c"}) {
      EXPECT_EQ(cairn_open(pool, CAIRN_ROOT, name, O_CREAT | O_RDWR, 0600, &file), 0);
      const std::vector<uint8_t> bytes(60'000, 'x');
      EXPECT_EQ(cairn_pwrite(file, bytes.data(), bytes.size(), 100), 60'000);
      EXPECT_EQ(cairn_pwrite(file, "far", 3, uint64_t{1} << 31), 3);
      EXPECT_EQ(cairn_setxattr(pool, cairn_file_ino(file), 0, "user.k", "v", 1, 0), 0);
      EXPECT_EQ(cairn_close(file), 0);
    }
    EXPECT_EQ(cairn_symlink(pool, "a", CAIRN_ROOT, "link"), 0);
    cairn_pool_detach(pool);
  }

  [[nodiscard]] std::string segment(int number = 0) const {
    return path + "/segment." + std::to_string(number);
  }
  void change_superblock(const std::function<void(std::vector<uint8_t>&)>& change) {
    change_superblocks(segment(), change);
  }
  // Attaching fails with this errno and a line that holds these words; check does not succeed
  // either.
  void expect_refused(int error, const std::vector<std::string>& words, bool checks = true) {
    cairn_pool* pool = nullptr;
    EXPECT_EQ(cairn_pool_attach(path.c_str(), 0, &pool), -error) << cairn_last_error();
    for (const std::string& word : words)
      EXPECT_NE(std::string(cairn_last_error()).find(word), std::string::npos)
          << "\"" << cairn_last_error() << "\" does not say \"" << word << "\"";
    if (checks) {
      EXPECT_NE(cairn_pool_check(
                    path.c_str(), [](void*, const char*) {}, nullptr),
                0);
    }
  }

  TemporaryFolder folder;
  std::string path = folder.path() + "/pool";
};

TEST_F(DamagedImage, NoPool) {
  path += "-that-is-not-there";
  expect_refused(ENOENT, {"pool-that-is-not-there"});
}

TEST_F(DamagedImage, NotADirectory) {
  path = segment();
  expect_refused(ENOTDIR, {"directory"});
}

TEST_F(DamagedImage, AnEmptyImage) {
  ASSERT_EQ(truncate(segment().c_str(), 0), 0);
  expect_refused(EUCLEAN, {"segment", "0 bytes"});
}

TEST_F(DamagedImage, ATruncatedImage) {
  ASSERT_EQ(truncate(segment().c_str(), 4 << 20), 0);
  expect_refused(EUCLEAN, {"cut off"});
}

TEST_F(DamagedImage, AMissingSegment) {
  cairn_pool* pool = attach(path);
  ASSERT_EQ(cairn_pool_grow(pool, uint64_t{4} << 20), 0) << cairn_last_error();
  cairn_pool_detach(pool);
  ASSERT_EQ(unlink(segment(1).c_str()), 0);
  expect_refused(ENOENT, {"segment.1"});
}

TEST_F(DamagedImage, ASegmentOfAnotherPool) {
  cairn_pool* pool = attach(path);
  ASSERT_EQ(cairn_pool_grow(pool, uint64_t{4} << 20), 0) << cairn_last_error();
  cairn_pool_detach(pool);
  const std::string other = folder.path() + "/other";
  make_pool(other, uint64_t{8} << 20, 8);
  pool = attach(other);
  ASSERT_EQ(cairn_pool_grow(pool, uint64_t{4} << 20), 0) << cairn_last_error();
  cairn_pool_detach(pool);
  ASSERT_EQ(rename((other + "/segment.1").c_str(), segment(1).c_str()), 0);
  expect_refused(EUCLEAN, {"segment 1", "another pool"});
}

TEST_F(DamagedImage, AFutureVersion) {
  change_superblock([](auto& block) { *word_in(block, offsetof(Superblock, version)) = 7; });
  expect_refused(EPROTONOSUPPORT, {"version 7", "version 1"});
}

TEST_F(DamagedImage, AnOldVersion) {
  change_superblock([](auto& block) { *word_in(block, offsetof(Superblock, version)) = 0; });
  expect_refused(EPROTONOSUPPORT, {"version 0", "version 1"});
}

TEST_F(DamagedImage, AnUnknownFeature) {
  change_superblock(
      [](auto& block) { *word_in(block, offsetof(Superblock, features_incompatible)) = 8; });
  expect_refused(EPROTONOSUPPORT, {"features", "0x8"});
}

// Before synced_size was kept it said nothing about a file's bytes: a size may then outlive a power
// loss without them, but what was synced is not taken for lost.
TEST(PageMedium, APoolWithoutSyncedSizesKeepsItsSizes) {
  for (const bool keeps : {true, false}) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/pool";
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = uint64_t{8} << 20;
    options.granularity = 2;  // page
    ASSERT_EQ(cairn_pool_create(path.c_str(), &options), 0) << cairn_last_error();
    const pid_t writer = fork();
    if (writer == 0) {  // dies before anything is synced
      cairn_pool* pool = nullptr;
      cairn_file* file = nullptr;
      const bool written =
          cairn_pool_attach(path.c_str(), 0, &pool) == 0 &&
          cairn_open(pool, CAIRN_ROOT, "file", O_CREAT | O_RDWR, 0600, &file) == 0 &&
          cairn_pwrite(file, "bytes", 5, 0) == 5;
      _exit(written ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(writer, &status, 0), writer);
    ASSERT_EQ(status, 0);
    {
      std::fstream image(path + "/segment.0", std::ios::in | std::ios::out | std::ios::binary);
      std::vector<uint8_t> state(format::block_size);
      image.seekg(format::state_block * format::block_size);
      image.read(reinterpret_cast<char*>(state.data()), format::block_size);
      *word_in(state, offsetof(format::State, boot_id)) ^= 1;  // the machine was started anew
      image.seekp(format::state_block * format::block_size);
      image.write(reinterpret_cast<const char*>(state.data()), format::block_size);
    }
    if (!keeps) {
      change_superblocks(path + "/segment.0", [](auto& block) {
        uint64_t* features = word_in(block, offsetof(Superblock, features_read_only));
        EXPECT_EQ(*features, format::feature_synced_size);
        *features = 0;
      });
    }
    cairn_pool* pool = attach(path);
    ASSERT_NE(pool, nullptr) << cairn_last_error();
    cairn_stat st = {};
    ASSERT_EQ(cairn_lookup(pool, CAIRN_ROOT, "file", 0, &st), 0) << cairn_last_error();
    EXPECT_EQ(st.size, keeps ? 0U : 5U);
    cairn_pool_detach(pool);
  }
}

TEST_F(DamagedImage, AFeatureThatAllowsLooking) {
  change_superblock(
      [](auto& block) { *word_in(block, offsetof(Superblock, features_read_only)) = 4; });
  expect_refused(EPROTONOSUPPORT, {"0x4"}, false);
  cairn_pool* pool = attach(path, CAIRN_ATTACH_READ_ONLY);
  ASSERT_NE(pool, nullptr);
  cairn_stat st;
  EXPECT_EQ(cairn_lookup(pool, CAIRN_ROOT, "a", 0, &st), 0) << cairn_last_error();
  cairn_pool_detach(pool);
}

TEST_F(DamagedImage, OneSuperblockIsEnough) {
  for (int64_t copy : {0, 4096}) {
    const int fd = open(segment().c_str(), O_RDWR);
    char kept[512];
    ASSERT_EQ(pread(fd, kept, sizeof kept, copy), 512);
    const char garbage[512] = "garbage";
    ASSERT_EQ(pwrite(fd, garbage, sizeof garbage, copy), 512);
    cairn_pool* pool = attach(path);
    ASSERT_NE(pool, nullptr);
    cairn_pool_detach(pool);
    ASSERT_EQ(pwrite(fd, kept, sizeof kept, copy), 512);
    close(fd);
  }
}

TEST_F(DamagedImage, BothSuperblocks) {
  const int fd = open(segment().c_str(), O_RDWR);
  ASSERT_EQ(pwrite(fd, "x", 1, 100), 1);
  ASSERT_EQ(pwrite(fd, "x", 1, 4096 + 100), 1);
  close(fd);
  expect_refused(EUCLEAN, {"both superblocks", "checksum"});
}

TEST_F(DamagedImage, NotAPoolAtAll) {
  const int fd = open(segment().c_str(), O_RDWR);
  const std::vector<char> zeros(8192);
  ASSERT_EQ(pwrite(fd, zeros.data(), zeros.size(), 0), 8192);
  close(fd);
  expect_refused(EUCLEAN, {"not a Cairn pool"});
}

TEST_F(DamagedImage, APoolThatOthersMayEnter) {
  ASSERT_EQ(chmod(path.c_str(), 0750), 0);
  expect_refused(EACCES, {"0700", "750"});
}

// What another user of the machine is told.
TEST_F(DamagedImage, AnotherUsersPool) {
  if (geteuid() != 0) {
    path = "/";  // root's, which is looked at before what lies in it
    expect_refused(EACCES, {"belongs to user 0"});
    return;
  }
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    expect_refused(EACCES, {"belongs to user 0"});
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(DamagedImage, AReadOnlyMedium) {
  const pid_t child = fork();
  if (child == 0) {
    if (!enter_own_namespaces(CLONE_NEWNS) || !make_read_only(path)) _exit(77);
    cairn_pool* pool = nullptr;
    EXPECT_EQ(cairn_pool_attach(path.c_str(), 0, &pool), -EROFS) << cairn_last_error();
    EXPECT_NE(std::string(cairn_last_error()).find("segment.0"), std::string::npos)
        << cairn_last_error();
    pool = attach(path, CAIRN_ATTACH_READ_ONLY);
    cairn_file* file = nullptr;
    if (pool != nullptr) {
      EXPECT_EQ(cairn_open(pool, CAIRN_ROOT, "a", O_RDWR, 0, &file), -EROFS);
      EXPECT_EQ(cairn_mkdir(pool, CAIRN_ROOT, "x", 0700), -EROFS);
      EXPECT_EQ(cairn_unlink(pool, CAIRN_ROOT, "a"), -EROFS);
      cairn_pool_detach(pool);
    }
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 77) << no_namespaces;
  EXPECT_EQ(status, 0);
}

// Counts by which tables are walked: a walk of 2^60 entries looked like a hang.
TEST_F(DamagedImage, TablesOfImpossibleSize) {
  const uint64_t impossible = uint64_t{1} << 60;
  const auto store = [&](size_t offset, uint64_t value) {
    const int fd = open(segment().c_str(), O_RDWR);
    EXPECT_EQ(pwrite(fd, &value, 8, static_cast<int64_t>(format::state_block * 4096 + offset)), 8);
    close(fd);
  };
  store(offsetof(format::State, itable_blocks), impossible);
  expect_refused(EUCLEAN, {"tables are damaged"});
  store(offsetof(format::State, itable_blocks), 2);
  store(offsetof(format::State, otable_blocks), impossible);
  expect_refused(EUCLEAN, {"tables are damaged"});
  store(offsetof(format::State, otable_blocks), 1);
  store(offsetof(format::State, pin_cursor), impossible);
  cairn_pool* pool = attach(path);
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(cairn_unlink(pool, CAIRN_ROOT, "a"), 0);
  cairn_pool_detach(pool);
}

// Odd means that somebody is changing it; here nobody is. Found by the fuzzer, as a hang.
TEST_F(DamagedImage, AShapeLeftOddIsNotWaitedFor) {
  cairn_pool* pool = attach(path);
  cairn_stat st{};
  ASSERT_EQ(cairn_lookup(pool, CAIRN_ROOT, "a", 0, &st), 0);
  cairn_pool_detach(pool);
  const format::SegmentLayout layout = format::layout_of(2048, 8);
  const int fd = open(segment().c_str(), O_RDWR);
  std::vector<uint8_t> data(4096);
  bool changed = false;
  for (uint64_t block = layout.data_start; block < 2048 && !changed; ++block) {
    ASSERT_EQ(pread(fd, data.data(), 4096, static_cast<int64_t>(block * 4096)), 4096);
    const auto& root = *reinterpret_cast<const format::Inode*>(data.data() + format::inode_size);
    if (!S_ISDIR(root.mode.load()) || root.directory.parent.load() != 1 ||
        root.state.load() != format::inode_live)
      continue;
    changed = true;
    for (uint64_t number : {uint64_t{1}, uint64_t{st.ino % 8}})
      *word_in(data, number * format::inode_size + offsetof(format::Inode, shape)) |= 1;
    ASSERT_EQ(pwrite(fd, data.data(), 4096, static_cast<int64_t>(block * 4096)), 4096);
  }
  close(fd);
  ASSERT_TRUE(changed && st.ino < 8);
  alarm(30);  // a hang ends here
  EXPECT_GE(cairn_pool_check(path.c_str(), nullptr, nullptr), 0) << cairn_last_error();
  for (unsigned flags : {CAIRN_ATTACH_READ_ONLY, 0U}) {
    pool = attach(path, flags);
    ASSERT_NE(pool, nullptr);
    cairn_file* file = nullptr;
    char bytes[4] = {};
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "a", flags == 0 ? O_RDWR : O_RDONLY, 0, &file), 0)
        << cairn_last_error();
    EXPECT_EQ(cairn_pread(file, bytes, 1, 200), 1);
    EXPECT_EQ(bytes[0], 'x');
    if (flags == 0) {
      EXPECT_EQ(cairn_pwrite(file, "new", 3, 1 << 20), 3);
      EXPECT_EQ(cairn_ftruncate(file, 100), 0);
      EXPECT_EQ(cairn_mkdir(pool, CAIRN_ROOT, "new", 0700), 0);
    }
    EXPECT_EQ(cairn_close(file), 0);
    cairn_pool_detach(pool);
  }
  alarm(0);
}

TEST_F(DamagedImage, AWrongLinkCountIsFoundByCheck) {
  cairn_pool* pool = attach(path);
  cairn_stat st;
  ASSERT_EQ(cairn_lookup(pool, CAIRN_ROOT, "a", 0, &st), 0);
  cairn_pool_detach(pool);
  const format::SegmentLayout layout = format::layout_of(2048, 8);
  const int fd = open(segment().c_str(), O_RDWR);
  // The reserve's 64 blocks come first, then the inode table's block.
  std::vector<uint8_t> data(4096);
  int64_t found = -1;
  for (uint64_t block = layout.data_start; block < 2048 && found < 0; ++block) {
    ASSERT_EQ(pread(fd, data.data(), 4096, static_cast<int64_t>(block * 4096)), 4096);
    const auto& root = *reinterpret_cast<const format::Inode*>(data.data() + format::inode_size);
    if (S_ISDIR(root.mode.load()) && root.directory.parent.load() == 1 &&
        root.state.load() == format::inode_live)
      found = static_cast<int64_t>(block * 4096 + st.ino % 8 * format::inode_size);
  }
  ASSERT_GE(found, 0);
  const uint64_t links = 9;
  ASSERT_EQ(pwrite(fd, &links, 8, found + static_cast<int64_t>(offsetof(format::Inode, links))), 8);
  close(fd);
  std::string text;
  EXPECT_EQ(cairn_pool_check(
                path.c_str(),
                [](void* to, const char* line) { *static_cast<std::string*>(to) += line; }, &text),
            1);
  EXPECT_NE(text.find("link count 9"), std::string::npos) << text;
}

}  // namespace
}  // namespace cairn::test
