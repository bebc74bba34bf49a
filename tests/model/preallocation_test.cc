// Preallocation that does not fit takes nothing.
#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

constexpr uint64_t size_bytes = uint64_t{64} << 20;
constexpr uint64_t piece = 4096;

class Preallocation : public testing::Test {
 protected:
  void SetUp() override {
    make_pool(path, size_bytes, 2);
    pool = attach(path);
    ASSERT_NE(pool, nullptr);
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_RDWR | O_CREAT, 0600, &file), 0);
    ASSERT_EQ(cairn_pwrite(file, data, sizeof data, 0), static_cast<ssize_t>(sizeof data));
    ASSERT_EQ(cairn_pwrite(file, data, sizeof data, 5 << 20), static_cast<ssize_t>(sizeof data));
  }
  void TearDown() override {
    char read[sizeof data];
    ASSERT_EQ(cairn_pread(file, read, sizeof read, 5 << 20), static_cast<ssize_t>(sizeof read));
    EXPECT_STREQ(read, data);
    EXPECT_EQ(cairn_close(file), 0);
    cairn_pool_detach(pool);
    EXPECT_EQ(check_pool(path), 0);
  }
  uint64_t free_bytes() {
    cairn_space space{};
    EXPECT_EQ(cairn_statfs(pool, &space), 0);
    return space.free_bytes;
  }
  uint64_t blocks_of_file() {
    cairn_stat st{};
    EXPECT_EQ(cairn_fstat(file, &st), 0);
    return st.blocks;
  }

  static constexpr char data[] = "data";
  TemporaryFolder folder;
  const std::string path = folder.path() + "/pool";
  cairn_pool* pool = nullptr;
  cairn_file* file = nullptr;
};

TEST_F(Preallocation, OfMoreThanThereIsTakesNothing) {
  const uint64_t free_before = free_bytes();
  const uint64_t blocks = blocks_of_file();
  for (const uint64_t size : {uint64_t{1} << 40, size_bytes}) {
    EXPECT_EQ(cairn_fallocate(file, 0, 6 << 20, size), -ENOSPC) << size;
    EXPECT_EQ(free_bytes(), free_before) << size;
    EXPECT_EQ(blocks_of_file(), blocks) << size;
  }
}

TEST_F(Preallocation, OfALittleTooMuchIsTakenBack) {
  cairn_file* other = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "g", O_RDWR | O_CREAT, 0600, &other), 0);
  uint64_t end = free_bytes() - (uint64_t{4} << 20);
  ASSERT_EQ(cairn_fallocate(other, 0, 0, end), 0) << cairn_last_error();
  while (cairn_fallocate(other, 0, end, piece) == 0) end += piece;
  ASSERT_EQ(cairn_fallocate(other, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 10 * piece), 0);
  const uint64_t blocks = blocks_of_file();
  EXPECT_EQ(cairn_fallocate(file, 0, (5 << 20) + 64 * piece, 20 * piece), -ENOSPC);
  EXPECT_EQ(blocks_of_file(), blocks);
  EXPECT_EQ(cairn_fallocate(other, 0, 0, 8 * piece), 0) << cairn_last_error();
  EXPECT_EQ(cairn_close(other), 0);
}

// What one that fails has taken may be what another one was promised that succeeded meanwhile.
TEST_F(Preallocation, ThatFailsTakesNothingFromOneThatSucceeded) {
  constexpr uint64_t promised = uint64_t{4} << 20;
  Random random(test_seed());
  int meanwhile = 0;
  for (int round = 0; round < 200 && meanwhile < 8; ++round) {
    cairn_file* shared = nullptr;
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "g", O_RDWR | O_CREAT, 0600, &shared), 0);
    // All that is free: the nodes of the map do not fit any more.
    const uint64_t all = free_bytes() / piece * piece;
    std::atomic<int> state = 0;
    int failed = 0;
    std::thread other([&] {
      state = 1;
      failed = cairn_fallocate(shared, 0, 0, all);
      state = 2;
    });
    while (state == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(4000)));
    const bool succeeded = cairn_fallocate(shared, 0, 0, promised) == 0 && state == 1;
    other.join();
    if (succeeded && failed == -ENOSPC) {
      ++meanwhile;
      cairn_stat st{};
      ASSERT_EQ(cairn_fstat(shared, &st), 0);
      EXPECT_GE(st.blocks * 512, promised) << "round " << round;
    }
    EXPECT_EQ(cairn_close(shared), 0);
    ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "g"), 0);
  }
  std::printf("%d succeeded while another one failed\n", meanwhile);
}

}  // namespace
}  // namespace cairn::test
