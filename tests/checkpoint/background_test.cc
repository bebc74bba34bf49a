// Copies to lower behind the program's back: they reach GLOBAL without a call that waits for it,
// never say so before, and harm nothing where lower fails, or where the process is killed, forks or
// exits meanwhile.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>

#include "checkpoint/ranks.h"

namespace cairn::test {
namespace {

constexpr uint64_t pool_bytes = 64ULL << 20;

// Until it says yes; no: a minute went by.
bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    usleep(1000);
  }
  return true;
}

class Background : public testing::Test {
 protected:
  Background() : lower_(folder_.path() + "/lower") { std::filesystem::create_directory(lower_); }
  [[nodiscard]] const std::string& lower() const { return lower_; }
  [[nodiscard]] std::string set() const { return lower() + "/.cairn-checkpoints/field"; }
  [[nodiscard]] cairn_checkpoint_options options(uint32_t rank = 0, uint32_t ranks = 1) const {
    cairn_checkpoint_options options{};
    options.flags = CAIRN_CHECKPOINT_BACKGROUND;
    options.lower = lower_.c_str();
    options.rank = rank;
    options.ranks = ranks;
    return options;
  }
  // The newest whole version in lower, as a pool of its own gets it back; 0: none.
  [[nodiscard]] int64_t restored() const {
    const PoolInMemory pool(pool_bytes);
    auto info = empty_info();
    const int result = cairn_checkpoint_restore(pool.get(), "field", lower().c_str(), &info);
    if (result == -ENOENT) return 0;
    EXPECT_EQ(result, 0) << cairn_last_error();
    EXPECT_EQ(info.skipped, 0U) << info.why;
    cairn_checkpoint* checkpoint = open_set(pool.get(), "field");
    Rows rows(60, 0, 1);
    EXPECT_EQ(rows.define(checkpoint), 0);
    EXPECT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
        << cairn_last_error();
    EXPECT_EQ(rows.difference(info.number), "");
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
    return info.number;
  }
  TemporaryFolder folder_;
  const std::string lower_;
};

struct Levels {
  std::vector<std::pair<int64_t, uint32_t>> reached;
};
void note_level(void* context, cairn_checkpoint_handle, int64_t version,
                const cairn_checkpoint_progress* progress) {
  static_cast<Levels*>(context)->reached.emplace_back(version, progress->level);
}

TEST_F(Background, AVersionReachesGlobal) {
  const PoolInMemory pool(pool_bytes);
  with_ranks(3, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open_set(pool.get(), "field", options(rank, 3));
    Rows rows(60, rank, 3);
    ASSERT_EQ(rows.define(checkpoint), 0);
    Levels levels;
    ASSERT_EQ(cairn_checkpoint_observe(checkpoint, note_level, &levels), 0);
    rows.set(5);
    cairn_checkpoint_handle handle = 0;
    ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 5, &handle), 0) << cairn_last_error();
    ASSERT_TRUE(comes_true([&] {
      const int is_there = cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_GLOBAL, nullptr);
      EXPECT_GE(is_there, 0) << cairn_last_error();
      return is_there != 0;
    }));
    cairn_checkpoint_progress progress{};
    progress.struct_size = sizeof progress;
    EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_GLOBAL, &progress), 1);
    EXPECT_EQ(progress.level, static_cast<uint32_t>(CAIRN_LEVEL_GLOBAL));
    EXPECT_NE(progress.survives & CAIRN_SURVIVES_POOLS, 0U);
    EXPECT_GT(progress.level_ns[CAIRN_LEVEL_GLOBAL], 0U);
    EXPECT_EQ(std::count(levels.reached.begin(), levels.reached.end(),
                         std::pair<int64_t, uint32_t>(5, CAIRN_LEVEL_GLOBAL)),
              1);
    if (rank == 0) {
      EXPECT_EQ(restored(), 5);
    }
    EXPECT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0), 0)
        << cairn_last_error();
    EXPECT_EQ(levels.reached.back(), (std::pair<int64_t, uint32_t>(5, CAIRN_LEVEL_GLOBAL)));
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  });
  EXPECT_EQ(restored(), 5);
}

TEST_F(Background, FinalizeCopiesTheNewestWhateverWasPassedOver) {
  const PoolInMemory pool(pool_bytes);
  cairn_checkpoint* checkpoint = open_set(pool.get(), "field", options());
  Rows rows(60, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  for (int64_t version = 1; version <= 40; ++version) {
    rows.set(version);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
  }
  ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  EXPECT_EQ(restored(), 40);
  int records = 0;
  for (const auto& entry : std::filesystem::directory_iterator(set())) {
    records += entry.path().extension() == ".json" ? 1 : 0;
    EXPECT_FALSE(entry.path().filename().string().starts_with(".tmp-")) << entry.path();
  }
  EXPECT_LE(records, 2);
}

TEST_F(Background, OnlyMultiplesAreCopied) {
  const PoolInMemory pool(pool_bytes);
  auto own = options();
  own.lower_multiple = 10;
  cairn_checkpoint* checkpoint = open_set(pool.get(), "field", own);
  Rows rows(60, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  cairn_checkpoint_handle ten = 0;
  cairn_checkpoint_handle eleven = 0;
  rows.set(10);
  ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 10, &ten), 0);
  rows.set(11);
  ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 11, &eleven), 0);
  EXPECT_TRUE(comes_true(
      [&] { return cairn_checkpoint_test(checkpoint, ten, CAIRN_LEVEL_GLOBAL, nullptr) == 1; }));
  EXPECT_EQ(cairn_checkpoint_test(checkpoint, eleven, CAIRN_LEVEL_GLOBAL, nullptr), 0);
  EXPECT_EQ(cairn_checkpoint_wait(checkpoint, eleven, CAIRN_LEVEL_GLOBAL, 0), 0)
      << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_test(checkpoint, eleven, CAIRN_LEVEL_GLOBAL, nullptr), 1);
  ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
}

TEST_F(Background, AFailureOfLowerIsSaidAndPasses) {
  const PoolInMemory pool(pool_bytes);
  with_ranks(2, [&](uint32_t rank) {
    auto own = cairn_checkpoint_options{};
    const std::string directory = lower();
    own.flags = CAIRN_CHECKPOINT_BACKGROUND;
    own.lower = directory.c_str();
    own.rank = rank;
    own.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool.get(), "field", own);
    Rows rows(60, rank, 2);
    ASSERT_EQ(rows.define(checkpoint), 0);
    ASSERT_EQ(cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr), 0);
    if (rank == 0) std::filesystem::remove_all(lower());
    rows.set(1);
    cairn_checkpoint_handle handle = 0;
    // Rank 0 has removed the directory before the version can be committed.
    ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 1, &handle), 0) << cairn_last_error();
    int result = 0;
    ASSERT_TRUE(comes_true([&] {
      result = cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_GLOBAL, nullptr);
      return result != 0;
    }));
    EXPECT_EQ(result, -ENOENT);
    EXPECT_TRUE(std::string(cairn_last_error()).starts_with("level GLOBAL: "))
        << cairn_last_error();
    cairn_checkpoint_progress progress{};
    progress.struct_size = sizeof progress;
    EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_LOCAL, &progress), 1);
    EXPECT_EQ(progress.error, -ENOENT);
    EXPECT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0), -ENOENT);
    if (rank == 0) std::filesystem::create_directory(lower());
    ASSERT_EQ(cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr), 1);
    EXPECT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0), 0)
        << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_GLOBAL, &progress), 1);
    EXPECT_EQ(progress.error, 0);
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  });
  EXPECT_EQ(restored(), 1);
}

TEST_F(Background, ADirectoryHasToBeNamed) {
  const PoolInMemory pool(pool_bytes);
  auto own = options();
  own.struct_size = sizeof own;
  own.pool = pool.get();
  own.lower = nullptr;
  cairn_checkpoint* checkpoint = nullptr;
  EXPECT_EQ(cairn_checkpoint_init("field", CAIRN_NO_COMMUNICATOR, &own, &checkpoint), -EINVAL);
}

enum class End : uint8_t { exits, is_killed, forks };

// A process that writes until it ends in this way. `global`: the newest version that it has seen
// at GLOBAL.
[[noreturn]] void write_until(End end, const std::string& path, cairn_checkpoint_options own,
                              std::atomic<int64_t>* global) {
  alarm(60);
  cairn_pool* pool = nullptr;
  if (cairn_pool_attach(path.c_str(), 0, &pool) != 0) _exit(10);
  own.struct_size = sizeof own;
  own.pool = pool;
  own.max_attempts = 1000;
  cairn_checkpoint* checkpoint = nullptr;
  if (cairn_checkpoint_init("field", CAIRN_NO_COMMUNICATOR, &own, &checkpoint) != 0) _exit(11);
  Rows rows(60, 0, 1);
  if (rows.define(checkpoint) != 0) _exit(12);
  auto info = empty_info();
  if (cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, &info) == 1 &&
      cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info) != 0)
    _exit(13);
  int waited = 0;
  constexpr int most_looks = 300;  // in all: what comes then is killed while it copies
  const int64_t last = end == End::is_killed ? INT64_MAX : info.number + 5;
  for (int64_t version = info.number + 1; version <= last; ++version) {
    rows.set(version);
    cairn_checkpoint_handle handle = 0;
    if (cairn_checkpoint_iwrite(checkpoint, version, &handle) != 0) _exit(14);
    if (cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_LOCAL, 0) != 0) _exit(15);
    const int is_global = cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_GLOBAL, nullptr);
    if (is_global < 0) _exit(16);
    for (; waited < most_looks && is_global == 0; ++waited) {
      if (cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_GLOBAL, nullptr) == 1) break;
      usleep(100);
    }
    if (cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_GLOBAL, nullptr) == 1)
      global->store(version);
  }
  if (end == End::forks) {
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) _exit(17);
    if (cairn_checkpoint_finalize(checkpoint) != 0) _exit(18);
  }
  std::exit(0);
}

TEST_F(Background, TheProcessMayEndAtAnyTime) {
  cairn_pool_options of_pool{};
  of_pool.struct_size = sizeof of_pool;
  of_pool.size = pool_bytes;
  const std::string path = folder_.path() + "/pool";
  ASSERT_EQ(cairn_pool_create(path.c_str(), &of_pool), 0) << cairn_last_error();
  std::mt19937_64 random(test_seed());
  void* const shared =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const global = new (shared) std::atomic<int64_t>(0);
  for (int round = 0; round < 24 && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto end = static_cast<End>(round % 3);
    const auto own = options();
    const pid_t child = fork();
    if (child == 0) write_until(end, path, own, global);
    if (end == End::is_killed) {
      usleep(static_cast<useconds_t>(random() % 60'000));
      kill(child, SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (end != End::is_killed) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    EXPECT_GE(restored(), global->load());
  }
  EXPECT_GT(global->load(), 0);
  munmap(global, sizeof *global);
}

}  // namespace
}  // namespace cairn::test
