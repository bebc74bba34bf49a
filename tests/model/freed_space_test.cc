// Freed space is used again before memory that nobody has touched: what a pool holds follows what
// lives in it, however the next checkpoint replaces the last one.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "model/temporary_pool.h"
#include "support/sizes.h"

namespace cairn::test {
namespace {

constexpr uint64_t checkpoint = 16 * mebibyte;

struct FreedSpace : testing::Test {
  FreedSpace() {
    make_pool(path, 256 * mebibyte);
    pool = attach(path);
  }
  ~FreedSpace() override {
    cairn_pool_detach(pool);
    EXPECT_EQ(check_pool(path), 0);
  }

  // What the pool has taken from the system for its blocks.
  [[nodiscard]] uint64_t memory_held() const {
    cairn_pool_info info;
    EXPECT_EQ(cairn_pool_get_info(pool, &info), 0) << cairn_last_error();
    EXPECT_EQ(info.used + info.withheld + info.free_held + info.untouched, info.usable);
    return info.usable - info.untouched;
  }

  void write_file(const std::string& name, int flags, uint64_t size, uint64_t piece) const {
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, name.c_str(), O_WRONLY | O_CREAT | flags, 0600, &file),
              0)
        << cairn_last_error();
    const std::vector<uint8_t> bytes(piece, 0x5a);
    for (uint64_t at = 0; at < size; at += piece)
      ASSERT_EQ(cairn_pwrite(file, bytes.data(), piece, at), static_cast<ssize_t>(piece))
          << cairn_last_error();
    ASSERT_EQ(cairn_close(file), 0);
  }

  void expect_bounded(const std::function<void(int)>& write_next) const {
    for (int round = 0; round < 30; ++round) {
      write_next(round);
      if (HasFatalFailure()) return;
      ASSERT_LE(memory_held(), checkpoint * 5 / 2) << "round " << round;
    }
  }

  TemporaryFolder folder;
  std::string path = folder.path() + "/pool";
  cairn_pool* pool = nullptr;
};

TEST_F(FreedSpace, OfATruncatedFileIsUsedAgain) {
  for (const uint64_t piece : {32 * uint64_t{1024}, mebibyte, 4 * mebibyte})
    expect_bounded([&](int) { write_file("checkpoint", O_TRUNC, checkpoint, piece); });
}

TEST_F(FreedSpace, OfAnUnlinkedFileIsUsedAgain) {
  expect_bounded([&](int round) {
    if (round != 0) {
      ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "checkpoint"), 0);
    }
    write_file("checkpoint", O_EXCL, checkpoint, mebibyte);
  });
}

TEST_F(FreedSpace, OfAFileThatIsReplacedIsUsedAgain) {
  expect_bounded([&](int) {
    write_file("next", O_EXCL, checkpoint, mebibyte);
    ASSERT_EQ(cairn_rename(pool, CAIRN_ROOT, "next", CAIRN_ROOT, "checkpoint", 0), 0);
  });
}

// Each process is a new one, and knows nothing of what the last one freed.
TEST_F(FreedSpace, OfAnotherProcessIsUsedAgain) {
  expect_bounded([&](int) {
    const pid_t child = fork();
    if (child == 0) {
      cairn_pool* own = nullptr;
      if (cairn_pool_attach(path.c_str(), 0, &own) != 0) _exit(1);
      pool = own;
      write_file("checkpoint", O_TRUNC, checkpoint, mebibyte);
      cairn_pool_detach(own);
      _exit(HasFatalFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  });
}

TEST_F(FreedSpace, OfManySmallFilesIsUsedAgain) {
  for (int i = 0; i < 5000; ++i) {
    write_file("small", O_EXCL, block_bytes, block_bytes);
    ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "small"), 0);
  }
  EXPECT_LE(memory_held(), 6 * mebibyte);
}

// Pieces between blocks that live serve small files; a large one gets whole chunks as long as they
// can be had, but not when the pool would mostly hold pieces.
TEST_F(FreedSpace, InPiecesServesSmallFilesFirst) {
  constexpr int files = 2048;  // 16 MiB
  const auto name = [](int i) { return "small." + std::to_string(i); };
  for (int i = 0; i < files; ++i) write_file(name(i), O_EXCL, 2 * block_bytes, 2 * block_bytes);
  for (int i = 0; i < files; i += 2) ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, name(i).c_str()), 0);
  const uint64_t held = memory_held();
  for (int i = 0; i < files; i += 2) write_file(name(i), O_EXCL, block_bytes, block_bytes);
  EXPECT_LE(memory_held(), held + 2 * mebibyte);
}

TEST_F(FreedSpace, OfAFileThatIsMappedStaysWithheld) {
  write_file("checkpoint", O_TRUNC, checkpoint, mebibyte);
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "checkpoint", O_RDONLY, 0, &file), 0);
  void* view = nullptr;
  ASSERT_EQ(cairn_mmap(file, nullptr, checkpoint, PROT_READ, MAP_SHARED, 0, &view), 0)
      << cairn_last_error();
  ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "checkpoint"), 0);
  ASSERT_EQ(cairn_close(file), 0);
  cairn_pool_info info;
  ASSERT_EQ(cairn_pool_get_info(pool, &info), 0);
  EXPECT_GE(info.withheld, checkpoint);
  EXPECT_LT(info.used, mebibyte);
  ASSERT_EQ(cairn_munmap(pool, view, checkpoint), 0);
  ASSERT_EQ(cairn_pool_get_info(pool, &info), 0);
  EXPECT_EQ(info.withheld, 0U);
}

}  // namespace
}  // namespace cairn::test
