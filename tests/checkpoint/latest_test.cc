// Which version is the latest: after restarts that died, within one run, for a run that begins
// anew.
#include <fcntl.h>
#include <signal.h>  // NOLINT: raise
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "checkpoint/ranks.h"

namespace cairn::test {
namespace {

class Latest : public testing::Test {
 protected:
  Latest() : pool_(32ULL << 20) {}

  // Begins a run in a process of its own, which dies without a word behind it.
  void in_dying_process(const std::function<bool(cairn_checkpoint*)>& work, uint32_t flags = 0) {
    const pid_t pid = fork();
    if (pid == 0) {
      cairn_pool* pool = nullptr;
      if (cairn_pool_attach(pool_.path().c_str(), 0, &pool) != 0) _exit(1);
      cairn_checkpoint_options options{};
      options.flags = flags;
      cairn_checkpoint* checkpoint = open_set(pool, "field", options);
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
  // Of a version, as a tool sees them.
  uint32_t attempts(int64_t version) {
    cairn_checkpoint_options options{};
    options.flags = CAIRN_CHECKPOINT_LOOK;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "field", options);
    std::map<int64_t, uint32_t> all;
    cairn_checkpoint_list(
        checkpoint,
        [](void* context, const cairn_checkpoint_info* info) {
          (*static_cast<std::map<int64_t, uint32_t>*>(context))[info->number] = info->attempts;
          return 0;
        },
        &all);
    cairn_checkpoint_finalize(checkpoint);
    return all.at(version);
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

  // Changes each place in the set's files where this number lies. How many there are.
  int damage(int64_t value) {
    cairn_stat st{};
    EXPECT_EQ(cairn_lookup(pool_.get(), CAIRN_ROOT, "/.checkpoints/field", 0, &st), 0);
    cairn_dirent entries[64];
    const int count = cairn_readdir(pool_.get(), st.ino, 0, entries, 64);
    int places = 0;
    for (int i = 0; i < count; ++i) {
      cairn_file* file = nullptr;
      const std::string path = std::string("/.checkpoints/field/") + entries[i].name;
      if (cairn_open(pool_.get(), CAIRN_ROOT, path.c_str(), O_RDWR, 0, &file) != 0) continue;
      int64_t word = 0;
      for (uint64_t at = 0; cairn_pread(file, &word, sizeof word, at) == sizeof word;
           at += sizeof word) {
        if (word != value) continue;
        ++word;
        EXPECT_EQ(cairn_pwrite(file, &word, sizeof word, at), static_cast<int64_t>(sizeof word));
        ++places;
      }
      cairn_close(file);
    }
    return places;
  }

  PoolInMemory pool_;
};

#define EXPECT_TEXT(part) \
  EXPECT_NE(std::string(cairn_last_error()).find(part), std::string::npos) << cairn_last_error()

TEST_F(Latest, VersionsThatAreLeftOutAreNotDroppedWithoutAWord) {
  write({100, 200});
  restart_and_die(10);
  int64_t x = -1;
  cairn_checkpoint* checkpoint = open(&x);
  EXPECT_EQ(test_latest(checkpoint), -EEXIST);
  EXPECT_TEXT(
      "version 200: 5 restarts from it ended before a checkpoint; to go on with it, read it by its "
      "number or set max_attempts to more than 5");
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
  restart_and_die(4);
  int64_t x = -1;
  cairn_checkpoint* checkpoint = open(&x);
  EXPECT_EQ(read_latest(checkpoint), 1) << "five runs have died";
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

// A preempted job dies again and again, and its version is intact.
TEST_F(Latest, SigtermThatWasCaughtIsNoAttempt) {
  write({1, 2});
  const auto restart_and_get = [&](int signal_number, uint32_t flags) {
    in_dying_process(
        [&](cairn_checkpoint* checkpoint) {
          int64_t x = 0;
          define_scalar(checkpoint, "x", &x);
          return read_latest(checkpoint) == 2 && (signal_number == 0 || raise(signal_number) == 0);
        },
        flags);
  };
  for (int i = 0; i < 7; ++i) restart_and_get(SIGTERM, CAIRN_CHECKPOINT_SIGNALS);
  EXPECT_EQ(attempts(2), 0U);
  restart_and_get(SIGUSR1, CAIRN_CHECKPOINT_SIGNALS);
  restart_and_get(0, CAIRN_CHECKPOINT_SIGNALS);
  restart_and_get(0, 0);
  EXPECT_EQ(attempts(2), 3U);
}

// `cairn run` says how its program ended.
TEST_F(Latest, AProgramThatWasKilledIsNoAttempt) {
  write({1, 2});
  setenv("CAIRN_RUN", "host:1:1", 1);
  restart_and_die(1);
  EXPECT_EQ(attempts(2), 1U);
  const auto ended = [&](const char* run, uint32_t end) {
    EXPECT_EQ(cairn_checkpoint_program_ended(pool_.get(), run, end), 0) << cairn_last_error();
  };
  ended("host:2:2", CAIRN_ENDED_FROM_OUTSIDE);
  EXPECT_EQ(attempts(2), 1U) << "it was a program of another run";
  ended("host:1:1", CAIRN_ENDED_FROM_OUTSIDE);
  EXPECT_EQ(attempts(2), 0U);
  restart_and_die(1);
  // One process crashed, and the launcher ended the others.
  ended("host:1:1", CAIRN_ENDED_FROM_OUTSIDE);
  ended("host:1:1", CAIRN_ENDED_BY_ITSELF);
  EXPECT_EQ(attempts(2), 1U);
  unsetenv("CAIRN_RUN");
  restart_and_die(1);
  ended("host:1:1", CAIRN_ENDED_FROM_OUTSIDE);
  EXPECT_EQ(attempts(2), 2U) << "the last run had no process of it";
  EXPECT_EQ(cairn_checkpoint_program_ended(pool_.get(), "host:1:1", 3), -EINVAL);
}

// What is read later is right as well.
TEST_F(Latest, IsVerifiedAsAWhole) {
  constexpr int64_t mark = 0x5a17'0000'2233'4455;
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "field");
  int64_t size = 0;
  int64_t x = 0;
  ASSERT_EQ(define_scalar(checkpoint, "size", &size), 0);
  ASSERT_EQ(define_scalar(checkpoint, "x", &x), 0);
  for (const int64_t version : {1, 2}) {
    size = version;
    x = mark + 1000 * version;
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
  }
  ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  ASSERT_EQ(damage(mark + 2000), 1);
  with_ranks(3, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 3;
    cairn_checkpoint* reader = open_set(pool_.get(), "field", options);
    auto info = empty_info();
    ASSERT_EQ(cairn_checkpoint_read(reader, CAIRN_CHECKPOINT_LATEST, CAIRN_READ_VERIFY_ALL, &info),
              0)
        << cairn_last_error();
    EXPECT_EQ(info.number, 1);
    EXPECT_EQ(info.skipped, 1U);
    int64_t its_size = 0;
    int64_t its_x = 0;
    ASSERT_EQ(define_scalar(reader, "size", &its_size), 0);
    ASSERT_EQ(define_scalar(reader, "x", &its_x), 0);
    ASSERT_EQ(cairn_checkpoint_read(reader, CAIRN_CHECKPOINT_LATEST, 0, &info), 0)
        << cairn_last_error();
    EXPECT_EQ(info.number, 1);
    EXPECT_EQ(its_size, 1);
    EXPECT_EQ(its_x, mark + 1000);
    EXPECT_EQ(cairn_checkpoint_finalize(reader), 0);
  });
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
