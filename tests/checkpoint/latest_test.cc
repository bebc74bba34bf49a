// Which version is the latest: after restarts that died, within one run, for a run that begins
// anew.
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint/ranks.h"

namespace cairn::test {
namespace {

class Latest : public testing::Test {
 protected:
  Latest() : pool_(32ULL << 20) {}

  // Begins a run in a process of its own, which dies without a word behind it.
  void in_dying_process(const std::function<bool(cairn_checkpoint*)>& work) {
    const pid_t pid = fork();
    if (pid == 0) {
      cairn_pool* pool = nullptr;
      if (cairn_pool_attach(pool_.path().c_str(), 0, &pool) != 0) _exit(1);
      cairn_checkpoint* checkpoint = open_set(pool, "field");
      _exit(checkpoint != nullptr && work(checkpoint) ? 0 : 2);
    }
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_EQ(status, 0);
  }
  void restart_and_die(int times) {
    for (int i = 0; i < times; ++i)
      in_dying_process([](cairn_checkpoint* checkpoint) {
        int64_t x = 0;
        define_scalar(checkpoint, "x", &x);
        const int read = cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr);
        return read == 0 || read == -EEXIST;
      });
  }
  void write(const std::vector<int64_t>& versions) {
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "field");
    int64_t x = 0;
    ASSERT_EQ(define_scalar(checkpoint, "x", &x), 0);
    for (const int64_t version : versions) {
      x = version;
      ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
    }
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  }
  cairn_checkpoint* open(int64_t* x, uint32_t flags = 0) {
    cairn_checkpoint_options options{};
    options.flags = flags;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "field", options);
    EXPECT_EQ(define_scalar(checkpoint, "x", x), 0);
    return checkpoint;
  }
  std::vector<int64_t> list() {
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "field");
    std::vector<int64_t> numbers;
    cairn_checkpoint_list(
        checkpoint,
        [](void* context, const cairn_checkpoint_info* info) {
          static_cast<std::vector<int64_t>*>(context)->push_back(info->number);
          return 0;
        },
        &numbers);
    cairn_checkpoint_finalize(checkpoint);
    return numbers;
  }
  // The number of the latest version, as read says; or its error.
  static int64_t read_latest(cairn_checkpoint* checkpoint, uint32_t* skipped = nullptr) {
    auto info = empty_info();
    const int read = cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info);
    if (skipped != nullptr) *skipped = info.skipped;
    return read == 0 ? info.number : read;
  }
  static int test_latest(cairn_checkpoint* checkpoint) {
    return cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr);
  }

  PoolInMemory pool_;
};

#define EXPECT_TEXT(part) \
  EXPECT_NE(std::string(cairn_last_error()).find(part), std::string::npos) << cairn_last_error()

TEST_F(Latest, VersionsThatAreLeftOutAreNotDroppedWithoutAWord) {
  write({100, 200});
  restart_and_die(4);
  int64_t x = -1;
  cairn_checkpoint* checkpoint = open(&x);
  EXPECT_EQ(test_latest(checkpoint), -EEXIST);
  EXPECT_TEXT("version 100: 2 restarts from it ended before a checkpoint");
  EXPECT_EQ(read_latest(checkpoint), -EEXIST);
  EXPECT_TEXT("CAIRN_CHECKPOINT_FRESH");
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EEXIST);
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  EXPECT_EQ(list(), (std::vector<int64_t>{200, 100}));
  checkpoint = open(&x);
  EXPECT_EQ(cairn_checkpoint_read(checkpoint, 200, 0, nullptr), 0) << cairn_last_error();
  EXPECT_EQ(x, 200);
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, 300), 0) << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  EXPECT_EQ(list(), (std::vector<int64_t>{300, 200}));
}

TEST_F(Latest, StaysTheSameInOneRun) {
  write({1, 2});
  restart_and_die(1);
  int64_t x = -1;
  cairn_checkpoint* checkpoint = open(&x);
  for (int i = 0; i < 3; ++i) {
    uint32_t skipped = 9;
    EXPECT_EQ(read_latest(checkpoint, &skipped), 2);
    EXPECT_EQ(skipped, 0U);
    EXPECT_EQ(test_latest(checkpoint), 1);
  }
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), 0);
  EXPECT_EQ(read_latest(checkpoint), 1) << "it has gone back behind 2";
  x = 3;
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 3), 0) << cairn_last_error();
  EXPECT_EQ(read_latest(checkpoint), 3);
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

// The run that reads several times counts once.
TEST_F(Latest, EachRunCountsOnce) {
  write({1, 2});
  in_dying_process([](cairn_checkpoint* checkpoint) {
    int64_t x = 0;
    define_scalar(checkpoint, "x", &x);
    for (int i = 0; i < 3; ++i)
      if (read_latest(checkpoint) != 2) return false;
    return true;
  });
  restart_and_die(1);
  int64_t x = -1;
  cairn_checkpoint* checkpoint = open(&x);
  EXPECT_EQ(read_latest(checkpoint), 1) << "two runs have died";
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

TEST_F(Latest, ARunThatBeginsAnewFindsNone) {
  write({1, 2});
  int64_t x = -1;
  cairn_checkpoint* checkpoint = open(&x, CAIRN_CHECKPOINT_FRESH);
  EXPECT_EQ(test_latest(checkpoint), 0) << cairn_last_error();
  EXPECT_EQ(read_latest(checkpoint), -ENOENT);
  EXPECT_EQ(x, -1);
  EXPECT_EQ(cairn_checkpoint_restart_test(checkpoint, 2, nullptr), 1);
  x = 50;
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 50), 0) << cairn_last_error();
  EXPECT_EQ(read_latest(checkpoint), 50);
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  EXPECT_EQ(list(), (std::vector<int64_t>{50}));
}

}  // namespace
}  // namespace cairn::test
