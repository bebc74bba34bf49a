#include "file/data/bulk_write.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <vector>

#include "file/data/io.h"
#include "file/data/words.h"
#include "file/namespace/names.h"
#include "file/open/open_file.h"
#include "pool/lanes/seats.h"
#include "support/fresh_pool.h"

namespace cairn::file {
namespace {

class BulkWrite : public FreshPool {
 protected:
  BulkWrite() {
    auto made = create_name(*fs, format::root_inode, "file", {S_IFREG | 0600});
    EXPECT_TRUE(made.ok()) << last_detail();
    const pool::SeatGuard seat(fs->pool);
    auto opened = open_inode(*fs, *seat, made->number, O_RDWR);
    EXPECT_TRUE(opened.ok()) << last_detail();
    file = std::move(*opened);
  }
  ~BulkWrite() override {
    const pool::SeatGuard seat(fs->pool);
    close_file(*seat, std::move(file));
  }
  std::unique_ptr<File> file;
};

TEST_F(BulkWrite, IsReadBackFromHolesAndFromBlocks) {
  ASSERT_TRUE(grow_size(*file, 100000).ok()) << last_detail();
  std::vector<uint8_t> bytes(70000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 13);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(write_bulk(*file, bytes.data(), bytes.size(), 5000).ok()) << last_detail();
    ASSERT_TRUE(fs->pool.fence_bytes().ok());
    std::vector<uint8_t> read(bytes.size());
    const auto n = read_at(*file, read.data(), read.size(), 5000);
    ASSERT_TRUE(n.ok()) << last_detail();
    EXPECT_EQ(read, bytes);
    for (uint8_t& byte : bytes) byte ^= 0xff;
  }
  EXPECT_EQ(file->inode->size.load(), 100000U);
}

TEST_F(BulkWrite, DoesNotMoveTheEndOfFile) {
  ASSERT_TRUE(grow_size(*file, 10).ok());
  EXPECT_EQ(write_bulk(*file, "abc", 3, 8).code(), EFBIG);
  EXPECT_EQ(write_bulk(*file, "abc", 3, UINT64_MAX - 1).code(), EFBIG);
  EXPECT_TRUE(write_bulk(*file, "abc", 3, 7).ok()) << last_detail();
  EXPECT_TRUE(write_bulk(*file, nullptr, 0, 7).ok()) << last_detail();
}

TEST_F(BulkWrite, AFullPoolSaysSo) {
  ASSERT_TRUE(grow_size(*file, uint64_t{64} << 20).ok());
  const std::vector<uint8_t> bytes(size_t{1} << 20, 1);
  Status status;
  for (uint64_t at = 0; status.ok() && at < uint64_t{64} << 20; at += bytes.size())
    status = write_bulk(*file, bytes.data(), bytes.size(), at);
  EXPECT_EQ(status.code(), ENOSPC);
}

TEST_F(BulkWrite, WordsAreThoseOfTheFile) {
  ASSERT_TRUE(grow_size(*file, 16384).ok());
  EXPECT_EQ(word_at(*fs, file->map(), 4096).code(), ENXIO) << "a hole";
  const uint64_t value = 0x0123456789abcdef;
  ASSERT_TRUE(write_bulk(*file, &value, sizeof value, 4096 + 512).ok()) << last_detail();
  const auto word = word_at(*fs, file->map(), 4096 + 512);
  ASSERT_TRUE(word.ok()) << last_detail();
  EXPECT_EQ((*word)->load(), value);
  fs->pool.store(**word, 7);
  uint64_t read = 0;
  ASSERT_TRUE(read_at(*file, &read, sizeof read, 4096 + 512).ok());
  EXPECT_EQ(read, 7U);
  EXPECT_EQ(word_at(*fs, file->map(), 4097).code(), EINVAL);
  EXPECT_EQ(word_at(*fs, file->map(), 16384).code(), ENXIO);
  EXPECT_EQ(word_at(*fs, file->map(), UINT64_MAX - 7).code(), ENXIO);
}

}  // namespace
}  // namespace cairn::file
