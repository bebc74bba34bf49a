// A pool that grows while others are attached: they meet addresses in a segment that they have not
// seen.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

constexpr uint64_t small_pool = 16 << 20;
constexpr uint64_t more = 32 << 20;
const std::string megabyte(1 << 20, 'x');

class Growth : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = small_pool;
    options.granularity = GetParam();
    ASSERT_EQ(cairn_pool_create(path_.c_str(), &options), 0) << cairn_last_error();
    pool_ = attach(path_);
    ASSERT_NE(pool_, nullptr);
  }
  void TearDown() override {
    cairn_pool_detach(pool_);
    EXPECT_EQ(check_pool(path_), 0);
  }
  // As another process: grows the pool, fills more than it had before, and ends or dies.
  void grow_elsewhere(bool dies) {
    const pid_t other = fork();
    if (other == 0) {
      cairn_pool* pool = nullptr;
      cairn_file* file = nullptr;
      bool good = cairn_pool_attach(path_.c_str(), 0, &pool) == 0 &&
                  cairn_pool_grow(pool, more) == 0 &&
                  cairn_open(pool, CAIRN_ROOT, "file", O_RDWR | O_CREAT, 0600, &file) == 0;
      for (uint64_t i = 0; good && i < 30; ++i)
        good = cairn_pwrite(file, megabyte.data(), megabyte.size(), i << 20) ==
               static_cast<ssize_t>(megabyte.size());
      good = good && cairn_mkdir(pool, CAIRN_ROOT, "directory", 0700) == 0 &&
             cairn_symlink(pool, std::string(700, 't').c_str(), CAIRN_ROOT, "link") == 0;
      if (!dies) {
        cairn_close(file);
        cairn_pool_detach(pool);
      }
      _exit(good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(other, &status, 0), other);
    ASSERT_EQ(status, 0);
  }
  void expect_whole() {
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(pool_, CAIRN_ROOT, "file", O_RDWR, 0, &file), 0) << cairn_last_error();
    std::string bytes(1 << 20, ' ');
    for (uint64_t i = 0; i < 30; ++i) {
      ASSERT_EQ(cairn_pread(file, bytes.data(), bytes.size(), i << 20),
                static_cast<ssize_t>(bytes.size()))
          << cairn_last_error();
      ASSERT_EQ(bytes, megabyte) << i;
    }
    EXPECT_EQ(cairn_fsync(file), 0) << cairn_last_error();
    cairn_close(file);
    char target[800];
    EXPECT_EQ(cairn_readlink(pool_, CAIRN_ROOT, "link", target, sizeof target), 700)
        << cairn_last_error();
    EXPECT_EQ(cairn_mkdir(pool_, CAIRN_ROOT, "directory/inside", 0700), 0) << cairn_last_error();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/pool";
  cairn_pool* pool_ = nullptr;
};

TEST_P(Growth, OthersReadWhatLiesInTheNewSegment) {
  grow_elsewhere(false);
  expect_whole();
}

TEST_P(Growth, OthersRecoverWhoDiedThere) {
  grow_elsewhere(true);
  expect_whole();
  ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "file"), 0) << cairn_last_error();
}

TEST_P(Growth, OthersFreeWhatLiesThere) {
  grow_elsewhere(false);
  ASSERT_EQ(cairn_unlink(pool_, CAIRN_ROOT, "file"), 0) << cairn_last_error();
  cairn_pool_info info;
  ASSERT_EQ(cairn_pool_get_info(pool_, &info), 0)
      << cairn_last_error();  // frees what waits to be freed
  EXPECT_LT(info.used, small_pool / 2);
}

// A count near the largest number must not wrap round to a small one.
TEST_P(Growth, NotFurtherThanAPoolCanBe) {
  for (const uint64_t bytes : {uint64_t{2} << 40, UINT64_MAX, UINT64_MAX - 100})
    EXPECT_EQ(cairn_pool_grow(pool_, bytes), -EFBIG) << cairn_last_error();
  cairn_pool_info info;
  ASSERT_EQ(cairn_pool_get_info(pool_, &info), 0);
  EXPECT_EQ(info.segments, 1U);
}

// Threads that find the pool full at once map the new segment once.
TEST_P(Growth, ThreadsSeeItTogether) {
  const pid_t other = fork();
  if (other == 0) {
    cairn_pool* pool = nullptr;
    _exit(cairn_pool_attach(path_.c_str(), 0, &pool) == 0 && cairn_pool_grow(pool, 2 * more) == 0
              ? 0
              : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  ASSERT_EQ(status, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      cairn_file* file = nullptr;
      ASSERT_EQ(
          cairn_open(pool_, CAIRN_ROOT, std::to_string(t).c_str(), O_RDWR | O_CREAT, 0600, &file),
          0);
      for (uint64_t i = 0; i < 12; ++i)
        ASSERT_EQ(cairn_pwrite(file, megabyte.data(), megabyte.size(), i << 20),
                  static_cast<ssize_t>(megabyte.size()))
            << cairn_last_error();
      cairn_close(file);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Whoever died between making the file and naming it in the superblock leaves nothing in the way.
TEST_P(Growth, AFileThatAnotherGrowthLeftIsReplaced) {
  cairn_pool_info info;
  ASSERT_EQ(cairn_pool_get_info(pool_, &info), 0);
  const std::string left = path_ + "/segment." + std::to_string(info.segments);
  FILE* file = std::fopen(left.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("half a segment", file);
  std::fclose(file);
  grow_elsewhere(false);
  expect_whole();
}

INSTANTIATE_TEST_SUITE_P(Granularities, Growth, ::testing::Values(0U, 2U, 3U));

}  // namespace
}  // namespace cairn::test
