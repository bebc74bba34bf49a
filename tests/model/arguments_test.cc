// Arguments that mean nothing are refused, and nothing has changed.
#include <fcntl.h>

#include <cerrno>

#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

class Arguments : public testing::Test {
 protected:
  void SetUp() override {
    make_pool(path, uint64_t{32} << 20, 4);
    pool = attach(path);
    ASSERT_NE(pool, nullptr);
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_RDWR | O_CREAT, 0600, &file), 0);
    ASSERT_EQ(cairn_fstat(file, &st), 0);
  }
  void TearDown() override {
    EXPECT_EQ(cairn_close(file), 0);
    cairn_pool_detach(pool);
    EXPECT_EQ(check_pool(path), 0);
  }

  TemporaryFolder folder;
  const std::string path = folder.path() + "/pool";
  cairn_pool* pool = nullptr;
  cairn_file* file = nullptr;
  cairn_stat st{};
};

TEST_F(Arguments, BytesAtAddressZeroAreNotWritten) {
  EXPECT_EQ(cairn_pwrite(file, nullptr, 10, 0), -EFAULT);
  EXPECT_EQ(cairn_write(file, nullptr, 10), -EFAULT);
  iovec nowhere{nullptr, 10};
  EXPECT_EQ(cairn_pwritev(file, &nowhere, 1, 0), -EFAULT);
  EXPECT_EQ(cairn_appendv(file, &nowhere, 1), -EFAULT);
  EXPECT_NE(std::string(cairn_last_error()), "");
  const cairn_piece piece{nullptr, 10, 0};
  EXPECT_EQ(cairn_write_pieces(file, &piece, 1), -EFAULT);
  EXPECT_EQ(cairn_pwrite(file, nullptr, 0, 0), 0);
  char text[] = "some text";
  iovec half[] = {{text, 4}, {nullptr, 10}};
  EXPECT_EQ(cairn_appendv(file, half, 2), 4);
  EXPECT_EQ(cairn_fstat(file, &st), 0);
  EXPECT_EQ(st.size, 4U);
  EXPECT_EQ(cairn_pread(file, nullptr, 10, 4), 0);  // nothing to be read
  ASSERT_EQ(cairn_ftruncate(file, 100'000), 0);
  EXPECT_EQ(cairn_pread(file, nullptr, 10, 50'000), -EFAULT);
}

TEST_F(Arguments, PathsAndNamesThatAreNull) {
  EXPECT_EQ(cairn_pool_create(nullptr, nullptr), -EFAULT);
  EXPECT_EQ(cairn_pool_remove(nullptr), -EFAULT);
  EXPECT_EQ(cairn_pool_sweep(nullptr), -EFAULT);
  EXPECT_EQ(cairn_pool_check(nullptr, nullptr, nullptr), -EFAULT);
  cairn_pool* other = nullptr;
  EXPECT_EQ(cairn_pool_attach(nullptr, 0, &other), -EFAULT);
  EXPECT_EQ(cairn_lookup(pool, CAIRN_ROOT, nullptr, 0, &st), -EFAULT);
  EXPECT_EQ(cairn_setxattr(pool, st.ino, 0, "user.a", nullptr, 1, 0), -EFAULT);
  EXPECT_EQ(cairn_setxattr(pool, st.ino, 0, nullptr, "x", 1, 0), -EFAULT);
  EXPECT_EQ(cairn_getxattr(pool, st.ino, 0, nullptr, nullptr, 0), -EFAULT);
  EXPECT_EQ(cairn_removexattr(pool, st.ino, 0, nullptr), -EFAULT);
  EXPECT_EQ(cairn_setxattr(pool, st.ino, 0, "user.a", nullptr, 0, 0), 0);
  ASSERT_EQ(cairn_setxattr(pool, st.ino, 0, "user.b", "x", 1, 0), 0);
  EXPECT_EQ(cairn_getxattr(pool, st.ino, 0, "user.b", nullptr, 1), -EFAULT);
}

TEST_F(Arguments, FlagsAndOptionsThatNobodyKnows) {
  cairn_pool* other = nullptr;
  EXPECT_EQ(cairn_pool_attach(path.c_str(), 0xff00, &other), -EINVAL);
  EXPECT_EQ(cairn_lookup(pool, CAIRN_ROOT, "f", 0xff00, &st), -EINVAL);
  EXPECT_EQ(cairn_link(pool, CAIRN_ROOT, "f", CAIRN_ROOT, "g", 2), -EINVAL);
  EXPECT_EQ(cairn_setxattr(pool, st.ino, 0, "user.a", "x", 1, 77), -EINVAL);
  struct {
    cairn_pool_options known;
    uint64_t later;
  } options{};
  options.known.size = 16 << 20;
  options.known.struct_size = sizeof options.known;
  options.known.reserved = 7;
  const std::string made = folder.path() + "/made";
  EXPECT_EQ(cairn_pool_create(made.c_str(), &options.known), -EINVAL);
  options.known.reserved = 0;
  options.known.struct_size = sizeof options;
  options.later = 1;
  EXPECT_EQ(cairn_pool_create(made.c_str(), &options.known), -EINVAL);
  options.later = 0;
  EXPECT_EQ(cairn_pool_create(made.c_str(), &options.known), 0) << cairn_last_error();
  EXPECT_EQ(cairn_pool_remove(made.c_str()), 0);
}

TEST_F(Arguments, ADirectoryThatIsGone) {
  cairn_file* made = nullptr;
  EXPECT_EQ(cairn_open(pool, 0, "g", O_CREAT | O_RDWR, 0600, &made), -ESTALE);
  EXPECT_NE(std::string(cairn_last_error()).find("inode 0"), std::string::npos)
      << cairn_last_error();
}

TEST_F(Arguments, AccessModeThreeIsForNeither) {
  cairn_file* neither = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_ACCMODE, 0, &neither), 0);
  char byte = 'x';
  EXPECT_EQ(cairn_pread(neither, &byte, 1, 0), -EBADF);
  EXPECT_EQ(cairn_pwrite(neither, &byte, 1, 0), -EBADF);
  EXPECT_EQ(cairn_close(neither), 0);
}

TEST_F(Arguments, PopulatingWhatIsOnlyLookedAt) {
  cairn_pool* looking = nullptr;
  ASSERT_EQ(
      cairn_pool_attach(path.c_str(), CAIRN_ATTACH_READ_ONLY | CAIRN_ATTACH_NO_RECOVERY, &looking),
      0);
  EXPECT_EQ(cairn_pool_populate(looking, nullptr, nullptr), -EROFS);
  cairn_pool_detach(looking);
}

}  // namespace
}  // namespace cairn::test
