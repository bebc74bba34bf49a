// Versions with variables of their own, observers, and the end of a run.
#include <signal.h>  // NOLINT: raise
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "checkpoint/ranks.h"

namespace cairn::test {
namespace {

class Collecting : public testing::Test {
 protected:
  Collecting() : pool_(64ULL << 20) {}
  PoolInMemory pool_;
};

int write_scalar(cairn_checkpoint* checkpoint, const char* name, int64_t* value) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_INT64;
  array.base = value;
  cairn_distribution replicated{};
  replicated.struct_size = sizeof replicated;
  replicated.kind = CAIRN_REPLICATED;
  return cairn_checkpoint_write_var(checkpoint, name, &array, &replicated, nullptr);
}

std::vector<std::string> names_of(cairn_checkpoint* checkpoint, int64_t version) {
  std::vector<std::string> names;
  const auto visit = [](void* context, const cairn_checkpoint_variable* variable) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(variable->name);
    return 0;
  };
  EXPECT_EQ(cairn_checkpoint_variables(checkpoint, version, visit, &names), 0)
      << cairn_last_error();
  return names;
}

TEST_F(Collecting, AVersionHasWhatIsRegisteredAndWhatIsWritten) {
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    options.keep = 9;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "collect", options);
    Rows rows(6, rank, 2);
    Rows other(4, rank, 2);
    int64_t count = 1;
    int64_t more = 17;
    ASSERT_EQ(rows.define(checkpoint), 0);
    ASSERT_EQ(define_scalar(checkpoint, "count", &count), 0);
    rows.set(1);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();

    EXPECT_EQ(write_scalar(checkpoint, "more", &more), -EINVAL);
    EXPECT_EQ(cairn_checkpoint_commit(checkpoint), -EINVAL);
    ASSERT_EQ(cairn_checkpoint_begin(checkpoint, 2), 0);
    ASSERT_EQ(write_scalar(checkpoint, "more", &more), 0) << cairn_last_error();
    // In the place of what is registered, for this version.
    ASSERT_EQ(write_scalar(checkpoint, "count", &more), 0) << cairn_last_error();
    rows.set(2);
    ASSERT_EQ(cairn_checkpoint_commit(checkpoint), 0) << cairn_last_error();
    rows.set(3);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 3), 0) << cairn_last_error();
    // What was begun and left costs nothing.
    ASSERT_EQ(cairn_checkpoint_begin(checkpoint, 4), 0);
    ASSERT_EQ(write_scalar(checkpoint, "lost", &more), 0);
    ASSERT_EQ(cairn_checkpoint_begin(checkpoint, 5), 0);
    ASSERT_EQ(cairn_checkpoint_commit(checkpoint), 0) << cairn_last_error();

    EXPECT_EQ(names_of(checkpoint, 1), (std::vector<std::string>{"count", "rows"}));
    EXPECT_EQ(names_of(checkpoint, 2), (std::vector<std::string>{"count", "more", "rows"}));
    EXPECT_EQ(names_of(checkpoint, 5), (std::vector<std::string>{"count", "rows"}));
    int64_t read = 0;
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_INT64;
    array.base = &read;
    for (const auto& [version, expected] : {std::pair{1, 1}, {2, 17}, {3, 1}}) {
      ASSERT_EQ(cairn_checkpoint_read_var(checkpoint, version, "count", nullptr, nullptr, &array),
                0)
          << cairn_last_error();
      EXPECT_EQ(read, expected) << version;
    }
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  });
}

TEST_F(Collecting, ALargerDomainIsFilledCyclically) {
  constexpr int64_t stored = 6;
  constexpr int64_t larger = 15;
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "cyclic");
  Rows rows(stored, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  rows.set(1);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0);
  ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    options.max_attempts = 100;
    cairn_checkpoint* again = open_set(pool_.get(), "cyclic", options);
    Rows mine(larger, rank, 2, 1);
    ASSERT_EQ(mine.define(again), 0);
    EXPECT_EQ(cairn_checkpoint_read(again, 1, 0, nullptr), -EINVAL);
    ASSERT_EQ(cairn_checkpoint_read(again, 1, CAIRN_READ_CYCLIC | CAIRN_READ_HALO, nullptr), 0)
        << cairn_last_error();
    for (int64_t r = std::max<int64_t>(mine.first - 1, 0);
         r < std::min(mine.first + mine.count + 1, larger); ++r)
      for (int64_t c = 0; c < Rows::columns; ++c)
        ASSERT_EQ(mine.at(r, c), Rows::value(r % stored, c, 1)) << r << " " << c;
    EXPECT_EQ(cairn_checkpoint_restart_test(again, 1, nullptr), -EINVAL);
    // A smaller one is not filled.
    Rows smaller(stored - 2, rank, 2);
    ASSERT_EQ(smaller.define(again), 0);
    EXPECT_EQ(cairn_checkpoint_read(again, 1, CAIRN_READ_CYCLIC, nullptr), -EINVAL);
    ASSERT_EQ(cairn_checkpoint_finalize(again), 0);
  });
}

// A program that fills a larger domain says so once, and can ask before it reads.
TEST_F(Collecting, ACyclicRunFindsWhatItCanRead) {
  cairn_checkpoint_options options{};
  options.flags = CAIRN_CHECKPOINT_CYCLIC;
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "cyclic", options);
  Rows rows(6, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  rows.set(1);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0);
  Rows smaller(4, 0, 1);
  ASSERT_EQ(smaller.define(checkpoint), 0);
  EXPECT_EQ(cairn_checkpoint_restart_test(checkpoint, 1, nullptr), -EINVAL);
  Rows larger(15, 0, 1);
  ASSERT_EQ(larger.define(checkpoint), 0);
  auto info = empty_info();
  EXPECT_EQ(cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, &info), 1)
      << cairn_last_error();
  EXPECT_EQ(info.number, 1);
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
      << cairn_last_error();
  EXPECT_EQ(larger.at(14, 3), Rows::value(2, 3, 1));
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

struct Seen {
  int64_t version;
  uint32_t level;
  int32_t error;
  friend bool operator==(const Seen&, const Seen&) = default;
};

void see(void* context, cairn_checkpoint_handle handle, int64_t version,
         const cairn_checkpoint_progress* progress) {
  EXPECT_NE(handle, 0U);
  static_cast<std::vector<Seen>*>(context)->push_back({version, progress->level, progress->error});
}

TEST_F(Collecting, AnObserverSeesEachLevel) {
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "observed");
  std::vector<Seen> seen;
  Rows rows(6, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0);
  ASSERT_EQ(cairn_checkpoint_observe(checkpoint, see, &seen), 0);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 2), 0);
  cairn_checkpoint_handle handle = 0;
  ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 3, &handle), 0);
  ASSERT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_LOCAL, 0), 0);
  ASSERT_EQ(cairn_checkpoint_observe(checkpoint, nullptr, nullptr), 0);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 4), 0);
  EXPECT_EQ(seen, (std::vector<Seen>{{2, CAIRN_LEVEL_STAGED, 0},
                                     {2, CAIRN_LEVEL_LOCAL, 0},
                                     {3, CAIRN_LEVEL_STAGED, 0},
                                     {3, CAIRN_LEVEL_LOCAL, 0}}));
  ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

TEST_F(Collecting, OneNodeSaysThatNobodyHoldsCopiesAndGoesOn) {
  cairn_checkpoint_options options{};
  options.flags = CAIRN_CHECKPOINT_PARTNER;
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "alone", options);
  Rows rows(6, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  std::vector<Seen> seen;
  ASSERT_EQ(cairn_checkpoint_observe(checkpoint, see, &seen), 0);
  cairn_checkpoint_handle handle = 0;
  ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 1, &handle), 0);
  EXPECT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_PARTNER, 0), -EOPNOTSUPP);
  EXPECT_NE(std::string(cairn_last_error()).find("the run has one node"), std::string::npos);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 2), 0) << cairn_last_error();
  EXPECT_EQ(seen.back(), (Seen{2, CAIRN_LEVEL_LOCAL, -EOPNOTSUPP}));
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
}

cairn_checkpoint_outlook empty_outlook() {
  cairn_checkpoint_outlook outlook{};
  outlook.struct_size = sizeof outlook;
  return outlook;
}

TEST_F(Collecting, AHaltFileAndTheEndOfTheJob) {
  TemporaryFolder folder;
  const std::string halt = folder.path() + "/halt";
  cairn_checkpoint_options options{};
  options.halt_file = halt.c_str();
  options.mtbf_ns = 3'600'000'000'000;
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "halt", options);
  Rows rows(6, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  auto outlook = empty_outlook();
  EXPECT_EQ(cairn_checkpoint_should_exit(checkpoint, &outlook), 0) << cairn_last_error();
  EXPECT_EQ(outlook.left_ns, UINT64_MAX);
  EXPECT_EQ(outlook.cost_ns, 0U);
  EXPECT_EQ(outlook.interval_ns, 0U);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0);
  EXPECT_EQ(cairn_checkpoint_should_exit(checkpoint, &outlook), 0);
  EXPECT_GT(outlook.cost_ns, 0U);
  EXPECT_GT(outlook.interval_ns, outlook.cost_ns);
  std::fclose(std::fopen(halt.c_str(), "w"));
  EXPECT_EQ(cairn_checkpoint_should_exit(checkpoint, &outlook), 1);
  EXPECT_EQ(outlook.reason, 3U);
  ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);

  const auto in_seconds = [](time_t seconds) {
    return std::to_string(std::time(nullptr) + seconds);
  };
  for (const auto& [left, expected] : {std::pair<time_t, int>{1000, 0}, {50, 1}}) {
    setenv("SLURM_JOB_END_TIME", in_seconds(left).c_str(), 1);
    options = {};
    options.exit_margin_ns = 100'000'000'000;
    checkpoint = open_set(pool_.get(), "time", options);
    EXPECT_EQ(cairn_checkpoint_should_exit(checkpoint, &outlook), expected);
    EXPECT_EQ(outlook.reason, expected != 0 ? 2U : 0U);
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  }
  unsetenv("SLURM_JOB_END_TIME");
}

TEST_F(Collecting, ASignalToOneRankCountsForAll) {
  static int own_calls = 0;
  ASSERT_NE(signal(SIGUSR1, [](int) { ++own_calls; }), SIG_ERR);
  const auto ask = [&](int expected) {
    with_ranks(2, [&](uint32_t rank) {
      cairn_checkpoint_options options{};
      options.rank = rank;
      options.ranks = 2;
      // Threads of one process stand for ranks: only one of them looks.
      if (rank == 1) options.flags = CAIRN_CHECKPOINT_SIGNALS;
      cairn_checkpoint* checkpoint = open_set(pool_.get(), "signal", options);
      auto outlook = empty_outlook();
      EXPECT_EQ(cairn_checkpoint_should_exit(checkpoint, &outlook), expected) << cairn_last_error();
      EXPECT_EQ(std::string(outlook.text).find("signal") != std::string::npos, expected != 0);
      ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
    });
  };
  ask(0);
  ASSERT_EQ(raise(SIGUSR1), 0);
  EXPECT_EQ(own_calls, 1);
  ask(1);
}

class Lower : public testing::Test {
 protected:
  static cairn_checkpoint_options options_of(const std::string& lower) {
    cairn_checkpoint_options options{};
    options.lower = lower.c_str();
    options.keep = 9;
    return options;
  }
  TemporaryFolder folder_;
};

TEST_F(Lower, ARunGoesOnInAnotherPool) {
  const std::string lower = folder_.path();
  Rows rows(6, 0, 1);
  {
    const PoolInMemory pool(64ULL << 20);
    cairn_checkpoint* checkpoint = open_set(pool.get(), "lower", options_of(lower));
    ASSERT_EQ(rows.define(checkpoint), 0);
    cairn_checkpoint_handle handle = 0;
    std::vector<Seen> seen;
    ASSERT_EQ(cairn_checkpoint_observe(checkpoint, see, &seen), 0);
    rows.set(1);
    ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 1, &handle), 0);
    EXPECT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_PARTNER, 0), -EINVAL);
    EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_GLOBAL, nullptr), 0);
    ASSERT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0), 0)
        << cairn_last_error();
    cairn_checkpoint_progress progress{};
    progress.struct_size = sizeof progress;
    EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_GLOBAL, &progress), 1);
    EXPECT_EQ(progress.level, static_cast<uint32_t>(CAIRN_LEVEL_GLOBAL));
    EXPECT_NE(progress.survives & CAIRN_SURVIVES_POOLS, 0U);
    EXPECT_EQ(seen.back(), (Seen{1, CAIRN_LEVEL_GLOBAL, 0}));
    rows.set(2);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 2), 0);
    // Copies the newest one.
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  }
  const PoolInMemory pool(64ULL << 20);
  with_ranks(3, [&](uint32_t rank) {
    auto options = options_of(lower);
    options.rank = rank;
    options.ranks = 3;
    cairn_checkpoint* checkpoint = open_set(pool.get(), "lower", options);
    Rows mine(6, rank, 3);
    ASSERT_EQ(mine.define(checkpoint), 0);
    auto info = empty_info();
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info), 0)
        << cairn_last_error();
    EXPECT_EQ(info.number, 2);
    EXPECT_EQ(mine.difference(2), "");
    mine.set(3);
    cairn_checkpoint_handle handle = 0;
    ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 3, &handle), 0) << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0), 0)
        << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  });
}

TEST_F(Lower, AnObserverSeesEachLevelOnce) {
  const std::string lower = folder_.path();
  const PoolInMemory pool(64ULL << 20);
  std::vector<Seen> seen;
  with_ranks(2, [&](uint32_t rank) {
    auto options = options_of(lower);
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool.get(), "lower", options);
    Rows rows(6, rank, 2);
    ASSERT_EQ(rows.define(checkpoint), 0);
    ASSERT_EQ(cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr), 0);
    if (rank == 0) {
      ASSERT_EQ(cairn_checkpoint_observe(checkpoint, see, &seen), 0);
    }
    // The version is not decided when rank 0 begins to wait.
    if (rank == 1) usleep(50'000);
    cairn_checkpoint_handle handle = 0;
    ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 1, &handle), 0) << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0), 0)
        << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 2), 0) << cairn_last_error();
    // Copies the newest one.
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  });
  EXPECT_EQ(seen, (std::vector<Seen>{{1, CAIRN_LEVEL_STAGED, 0},
                                     {1, CAIRN_LEVEL_LOCAL, 0},
                                     {1, CAIRN_LEVEL_GLOBAL, 0},
                                     {2, CAIRN_LEVEL_STAGED, 0},
                                     {2, CAIRN_LEVEL_LOCAL, 0},
                                     {2, CAIRN_LEVEL_GLOBAL, 0}}));
}

TEST_F(Lower, WithoutADirectoryThereIsNoGlobal) {
  const PoolInMemory pool(64ULL << 20);
  cairn_checkpoint* checkpoint = open_set(pool.get(), "lower");
  Rows rows(6, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  cairn_checkpoint_handle handle = 0;
  ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 1, &handle), 0);
  EXPECT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0), -EINVAL);
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

// One that goes away is an error of the end, of all ranks, and the versions stay in the pool.
TEST_F(Lower, TheDirectoryHasToBeThere) {
  const PoolInMemory pool(64ULL << 20);
  const std::string lower = folder_.path() + "/lower";
  auto options = options_of(lower);
  options.struct_size = sizeof options;
  options.pool = pool.get();
  cairn_checkpoint* checkpoint = nullptr;
  EXPECT_EQ(cairn_checkpoint_init("gone", CAIRN_NO_COMMUNICATOR, &options, &checkpoint), -ENOENT);
  EXPECT_NE(std::string(cairn_last_error()).find("options.lower: " + lower), std::string::npos)
      << cairn_last_error();
  std::filesystem::create_directory(lower);
  with_ranks(2, [&](uint32_t rank) {
    auto own = options_of(lower);
    own.rank = rank;
    own.ranks = 2;
    cairn_checkpoint* one = open_set(pool.get(), "gone", own);
    Rows rows(6, rank, 2);
    ASSERT_EQ(rows.define(one), 0);
    ASSERT_EQ(cairn_checkpoint_write(one, 1), 0);
    if (rank == 0) std::filesystem::remove_all(lower);
    EXPECT_EQ(cairn_checkpoint_finalize(one), -ENOENT);
    EXPECT_NE(std::string(cairn_last_error()).find("options.lower: "), std::string::npos)
        << cairn_last_error();
  });
}

}  // namespace
}  // namespace cairn::test
