// Views: bytes where they lie, which stay what they were while anybody looks.
#include <fcntl.h>
#include <sys/mman.h>

#include <vector>

#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

class Views : public testing::Test {
 protected:
  void SetUp() override {
    make_pool(path, uint64_t{16} << 20, 4);
    pool = attach(path);
    ASSERT_NE(pool, nullptr);
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_CREAT | O_RDWR, 0600, &file), 0);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>('a' + i % 23);
    ASSERT_EQ(cairn_pwrite(file, bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  void TearDown() override {
    cairn_close(file);
    cairn_pool_detach(pool);
    EXPECT_EQ(check_pool(path), 0);
  }

  std::vector<char> bytes = std::vector<char>(100'000);
  TemporaryFolder folder;
  const std::string path = folder.path() + "/pool";
  cairn_pool* pool = nullptr;
  cairn_file* file = nullptr;
};

TEST_F(Views, ShowTheWholeFilePieceByPiece) {
  for (uint64_t at = 0; at < bytes.size();) {
    cairn_view view{};
    ASSERT_EQ(cairn_view_open(file, at, bytes.size(), &view), 0) << cairn_last_error();
    ASSERT_GT(view.size, 0U);
    ASSERT_LE(at + view.size, bytes.size()) << "beyond the end";
    EXPECT_EQ(std::memcmp(view.data, bytes.data() + at, view.size), 0) << "offset " << at;
    at += view.size;
    cairn_view_close(file, &view);
    EXPECT_EQ(view.data, nullptr);
    EXPECT_EQ(view.size, 0U);
  }
}

TEST_F(Views, BeginAndEndAnywhere) {
  cairn_view view{};
  ASSERT_EQ(cairn_view_open(file, 4095, 3, &view), 0);
  EXPECT_GE(view.size, 1U);
  EXPECT_LE(view.size, 3U);
  EXPECT_EQ(*static_cast<const char*>(view.data), bytes[4095]);
  cairn_view_close(file, &view);
  ASSERT_EQ(cairn_view_open(file, bytes.size() - 1, 4096, &view), 0);
  EXPECT_EQ(view.size, 1U);
  cairn_view_close(file, &view);
}

TEST_F(Views, ShowTheFileAlsoWhenItIsCutAndThePoolWrittenFull) {
  cairn_view view{};
  ASSERT_EQ(cairn_view_open(file, 0, 4096, &view), 0);
  ASSERT_EQ(view.size, 4096U);
  ASSERT_EQ(cairn_ftruncate(file, 0), 0);
  cairn_file* other = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "other", O_CREAT | O_RDWR, 0600, &other), 0);
  const std::vector<char> foreign(1 << 20, '!');
  uint64_t written = 0;
  for (ssize_t n = 0; (n = cairn_pwrite(other, foreign.data(), foreign.size(), written)) > 0;)
    written += static_cast<uint64_t>(n);
  EXPECT_GT(written, uint64_t{8} << 20);
  const std::vector<char> zeros(4096);
  EXPECT_EQ(std::memcmp(view.data, zeros.data(), view.size), 0)
      << "a block that a view shows was given to another file";
  EXPECT_EQ(cairn_pwrite(file, "new", 3, 0), 3) << cairn_last_error();
  EXPECT_EQ(std::memcmp(view.data, "new", 4), 0)
      << "the view shows another block than the file has";
  // What the cut has left for the view's sake comes back with it.
  ASSERT_EQ(cairn_ftruncate(file, 0), 0);
  EXPECT_EQ(cairn_pwrite(other, "x", 1, written), -ENOSPC);
  cairn_view_close(file, &view);
  EXPECT_EQ(cairn_pwrite(other, "x", 1, written), 1) << cairn_last_error();
  EXPECT_EQ(cairn_close(other), 0);
}

// Each costs the same with thousands of others: five thousand that each asked after all others took
// half a minute.
TEST_F(Views, ThousandsAtOnceAndAgain) {
  std::vector<cairn_view> views(5000);
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < views.size(); ++i) {
      if (views[i].data != nullptr) continue;
      ASSERT_EQ(cairn_view_open(file, i * 16, 16, &views[i]), 0) << i << ": " << cairn_last_error();
    }
    for (size_t i = 0; i < views.size(); ++i)
      ASSERT_EQ(std::memcmp(views[i].data, bytes.data() + i * 16, 16), 0) << "view " << i;
    for (size_t i = 0; i < views.size(); i += 2) cairn_view_close(file, &views[i]);
  }
  for (size_t i = 1; i < views.size(); i += 2) cairn_view_close(file, &views[i]);
}

TEST_F(Views, OfHolesAndBeyondTheEndThereAreNone) {
  cairn_view view{};
  ASSERT_EQ(cairn_ftruncate(file, 1 << 20), 0);
  EXPECT_EQ(cairn_view_open(file, 512 << 10, 10, &view), -ENODATA);
  EXPECT_EQ(cairn_view_open(file, 1 << 20, 10, &view), -ENODATA);
  cairn_file* writing = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_WRONLY, 0, &writing), 0);
  EXPECT_EQ(cairn_view_open(writing, 0, 10, &view), -EBADF);
  EXPECT_EQ(cairn_close(writing), 0);
  cairn_view_close(file, &view);  // what is not open may be closed
}

TEST_F(Views, APoolThatIsOnlyLookedAtTakesNoWrites) {
  cairn_pool* looking = attach(path, CAIRN_ATTACH_READ_ONLY);
  ASSERT_NE(looking, nullptr);
  cairn_file* seen = nullptr;
  ASSERT_EQ(cairn_open(looking, CAIRN_ROOT, "f", O_RDONLY, 0, &seen), 0) << cairn_last_error();
  char byte = 0;
  EXPECT_EQ(cairn_pread(seen, &byte, 1, 5), 1);
  EXPECT_EQ(byte, bytes[5]);
  EXPECT_EQ(cairn_pwrite(seen, "x", 1, 0), -EBADF);
  EXPECT_EQ(cairn_close(seen), 0);
  EXPECT_EQ(cairn_open(looking, CAIRN_ROOT, "f", O_RDWR, 0, &seen), -EROFS);
  EXPECT_EQ(cairn_mkdir(looking, CAIRN_ROOT, "d", 0700), -EROFS);
  EXPECT_EQ(cairn_pool_grow(looking, 1 << 22), -EROFS);
  cairn_pool_detach(looking);
}

TEST_F(Views, RangesThatAreNone) {
  EXPECT_EQ(cairn_fallocate(file, 0, 0, 0), -EINVAL);
  EXPECT_EQ(cairn_fallocate(file, 0, UINT64_MAX - 5, 10), -EFBIG);
  EXPECT_EQ(cairn_msync(pool, bytes.data(), 10, MS_SYNC | MS_ASYNC), -EINVAL);
  cairn_file* reading = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_RDONLY, 0, &reading), 0);
  EXPECT_EQ(cairn_fallocate(reading, 0, 0, 10), -EBADF);
  EXPECT_EQ(cairn_close(reading), 0);
}

}  // namespace
}  // namespace cairn::test
