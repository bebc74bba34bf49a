// A drain, a restore and a removal of checkpoints are killed at any call to lower or store to the
// pool. What a list shows afterwards is whole, and the same call finishes the work.
//
//   CAIRN_SEED   repeats the moments
//   CAIRN_STRIDE how many stores are skipped at most; 1: none
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "checkpoint/ranks.h"
#include "checkpoint/record/limits.h"
#include "checkpoint/sources/lower_copy.h"
#include "support/pool_stores.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

enum class Kill : uint8_t { at_no_moment, at_a_call_to_lower, at_a_store };

class Attached {
 public:
  explicit Attached(const std::string& path) {
    if (cairn_pool_attach(path.c_str(), 0, &pool_) != 0) ADD_FAILURE() << cairn_last_error();
  }
  ~Attached() { cairn_pool_detach(pool_); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  [[nodiscard]] cairn_pool* get() const { return pool_; }

 private:
  cairn_pool* pool_ = nullptr;
};

class CheckpointKills : public testing::Test {
 protected:
  using Work = std::function<int(cairn_pool*)>;

  void SetUp() override {
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = 64ULL << 20;
    ASSERT_EQ(cairn_pool_create(pool_.c_str(), &options), 0) << cairn_last_error();
  }

  static cairn_checkpoint* look(cairn_pool* pool) {
    cairn_checkpoint_options options{};
    options.struct_size = sizeof options;
    options.pool = pool;
    options.flags = CAIRN_CHECKPOINT_LOOK;
    cairn_checkpoint* checkpoint = nullptr;
    const int result = cairn_checkpoint_init("rows", CAIRN_NO_COMMUNICATOR, &options, &checkpoint);
    EXPECT_TRUE(result == 0 || result == -ENOENT) << cairn_last_error();
    return checkpoint;
  }
  void write(int64_t first, int64_t last) const {
    const Attached pool(pool_);
    cairn_checkpoint_options options{};
    options.keep = 9;
    options.flags = CAIRN_CHECKPOINT_FRESH;
    cairn_checkpoint* checkpoint = open_set(pool.get(), "rows", options);
    Rows rows(6, 0, 1);
    ASSERT_EQ(rows.define(checkpoint), 0);
    for (int64_t version = first; version <= last; ++version) {
      rows.set(version);
      ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
    }
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  }
  [[nodiscard]] Work drain(int64_t version, uint32_t keep) const {
    return [=, this](cairn_pool* pool) {
      cairn_checkpoint* const checkpoint = look(pool);
      const int result = cairn_checkpoint_drain(checkpoint, version, lower_.c_str(), keep);
      cairn_checkpoint_finalize(checkpoint);
      return result;
    };
  }
  // Of a version or a set that is gone already, too.
  static Work drop(int64_t version, uint32_t flags) {
    return [=](cairn_pool* pool) {
      cairn_checkpoint* const checkpoint = look(pool);
      if (checkpoint == nullptr) return 0;
      const int result = cairn_checkpoint_drop(checkpoint, version, flags);
      cairn_checkpoint_finalize(checkpoint);
      return result == -ENOENT ? 0 : result;
    };
  }
  void run(const Work& work) const {
    const Attached pool(pool_);
    ASSERT_EQ(work(pool.get()), 0) << cairn_last_error();
  }
  // Of this pool, newest first, each of which is verified.
  [[nodiscard]] std::vector<int64_t> versions() const {
    const Attached pool(pool_);
    cairn_checkpoint* const checkpoint = look(pool.get());
    std::vector<int64_t> numbers;
    if (checkpoint == nullptr) return numbers;
    const auto visit = [](void* context, const cairn_checkpoint_info* info) {
      EXPECT_NE(info->level, 0U) << info->why;
      static_cast<std::vector<int64_t>*>(context)->push_back(info->number);
      return 0;
    };
    EXPECT_EQ(cairn_checkpoint_list(checkpoint, visit, &numbers), 0) << cairn_last_error();
    for (const int64_t number : numbers)
      EXPECT_EQ(cairn_checkpoint_verify(checkpoint, number, nullptr), 0) << cairn_last_error();
    cairn_checkpoint_finalize(checkpoint);
    return numbers;
  }
  // In lower, ascending, each of which is whole or `damaged`.
  [[nodiscard]] std::vector<uint64_t> copies(uint64_t damaged = 0) const {
    const auto lower = checkpoint::LowerSet::open(lower_, "rows", false);
    const auto sequences = lower.ok() ? lower->versions() : lower.status();
    if (!sequences.ok()) ADD_FAILURE() << last_detail();
    if (!sequences.ok()) return {};
    for (const uint64_t sequence : *sequences) {
      if (sequence == damaged) continue;
      const auto copy = checkpoint::open_copy(*lower, sequence);
      EXPECT_TRUE(copy.ok() && checkpoint::check_data(*lower, *copy).ok())
          << sequence << last_detail();
    }
    return *sequences;
  }
  // True: `work` was killed before it came to its end.
  [[nodiscard]] bool is_killed(Kill kill, uint64_t moment, const Work& work) const {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      const Attached pool(pool_);
      const auto die_at = [moment](uint64_t number) {
        if (number == moment) raise(SIGKILL);
      };
      if (kill == Kill::at_a_store) set_store_hook(pool.get(), die_at);
      if (kill == Kill::at_a_call_to_lower)
        set_lower_hook([die_at, number = uint64_t{0}](const LowerCall&) mutable {
          die_at(++number);
          return 0;
        });
      const int result = work(pool.get());
      if (result != 0) std::fprintf(stderr, "%d: %s\n", result, cairn_last_error());
      _exit(result == 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    EXPECT_TRUE(is_killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << status;
    return is_killed;
  }
  static uint64_t stride() { return number_from_environment("CAIRN_STRIDE", 16); }
  // Kills `work` at its first moment and at later ones, each at most `stride` after the one before.
  void kill_at_moments(Kill kill, uint64_t stride, const std::function<void()>& prepare,
                       const Work& work, const std::function<void()>& check_killed,
                       const std::function<void()>& check_done) {
    std::mt19937_64 random(test_seed());
    uint64_t kills = 0;
    for (uint64_t moment = 1; !HasFailure(); moment += 1 + random() % stride, ++kills) {
      SCOPED_TRACE("moment " + std::to_string(moment));
      prepare();
      const bool killed = is_killed(kill, moment, work);
      if (killed) {
        check_killed();
        EXPECT_FALSE(is_killed(Kill::at_no_moment, 0, work));
      }
      check_done();
      if (!killed) break;
    }
    EXPECT_GT(kills, 20U);
  }
  [[nodiscard]] std::string set_in_lower() const { return lower_ + "/.cairn-checkpoints/rows"; }

  TemporaryFolder folder_;
  std::string pool_ = folder_.path() + "/pool";
  std::string lower_ = folder_.path() + "/lower";
};

class KilledDrain : public CheckpointKills {
 protected:
  void SetUp() override {
    CheckpointKills::SetUp();
    fs::create_directory(lower_);
    write(1, 3);
    run(drain(1, 0));
    run(drain(2, 0));
  }
  void keep_lower() const { fs::copy(set_in_lower(), kept_, as_links); }
  // Files in lower are replaced and never changed, so links do for copies.
  void renew_lower() const {
    fs::remove_all(set_in_lower());
    fs::copy(kept_, set_in_lower(), as_links);
  }
  void check_done() const {
    EXPECT_EQ(copies(), (std::vector<uint64_t>{2, 3}));
    EXPECT_EQ(versions(), (std::vector<int64_t>{3, 2, 1}));
    std::vector<std::string> others;
    for (const auto& file : fs::directory_iterator(set_in_lower())) {
      const std::string name = file.path().filename();
      if (!name.starts_with("v0000")) others.push_back(name);
    }
    EXPECT_EQ(others.size(), 7U) << testing::PrintToString(others);
  }

  static constexpr fs::copy_options as_links =
      fs::copy_options::recursive | fs::copy_options::create_hard_links;
  std::string kept_ = folder_.path() + "/kept";
};

TEST_F(KilledDrain, IsFinishedByTheNext) {
  keep_lower();
  kill_at_moments(
      Kill::at_a_call_to_lower, 1, [this] { renew_lower(); }, drain(3, 2),
      [this] {
        const std::vector<uint64_t> sequences = copies();
        EXPECT_TRUE(sequences == (std::vector<uint64_t>{1, 2}) ||
                    sequences == (std::vector<uint64_t>{1, 2, 3}) ||
                    sequences == (std::vector<uint64_t>{2, 3}))
            << testing::PrintToString(sequences);
        EXPECT_EQ(versions(), (std::vector<int64_t>{3, 2, 1}));
      },
      [this] { check_done(); });
}

TEST_F(KilledDrain, OfADamagedCopyIsFinishedByTheNext) {
  run(drain(3, 0));
  std::fstream file(set_in_lower() + "/v0000000000000003.data",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(checkpoint::region_unit);
  file.put(1);
  file.close();
  keep_lower();
  kill_at_moments(
      Kill::at_a_call_to_lower, 4, [this] { renew_lower(); }, drain(3, 2),
      [this] {
        std::vector<uint64_t> sequences = copies(3);
        if (sequences.front() == 2) {
          EXPECT_EQ(copies(), (std::vector<uint64_t>{2, 3}));
        } else {
          sequences.resize(2);
          EXPECT_EQ(sequences, (std::vector<uint64_t>{1, 2}));
        }
      },
      [this] { check_done(); });
}

class KilledRestore : public CheckpointKills {
 protected:
  void kill_at_moments_of_restores(Kill kill, uint64_t stride) {
    fs::create_directory(lower_);
    write(1, 2);
    run(drain(1, 0));
    run(drain(2, 0));
    kill_at_moments(
        kill, stride, [this] { run(drop(0, CAIRN_DROP_SET | CAIRN_DROP_LAST)); },
        [this](cairn_pool* pool) {
          const int result = cairn_checkpoint_restore(pool, "rows", lower_.c_str(), nullptr);
          // It was killed after it had the version.
          return result == -EEXIST ? 0 : result;
        },
        [this] {
          const std::vector<int64_t> numbers = versions();
          EXPECT_TRUE(numbers.empty() || numbers == std::vector<int64_t>{2})
              << testing::PrintToString(numbers);
          EXPECT_EQ(copies(), (std::vector<uint64_t>{1, 2}));
        },
        [this] { EXPECT_EQ(versions(), std::vector<int64_t>{2}); });
  }
};

TEST_F(KilledRestore, AtACallToLowerIsFinishedByTheNext) {
  kill_at_moments_of_restores(Kill::at_a_call_to_lower, 1);
}

TEST_F(KilledRestore, AtAStoreIsFinishedByTheNext) {
  kill_at_moments_of_restores(Kill::at_a_store, stride());
}

class KilledRemoval : public CheckpointKills {};

TEST_F(KilledRemoval, OfAVersionIsFinishedByTheNext) {
  kill_at_moments(
      Kill::at_a_store, stride(), [this] { write(1, 3); }, drop(3, 0),
      [this] {
        const std::vector<int64_t> numbers = versions();
        EXPECT_TRUE(numbers == (std::vector<int64_t>{3, 2, 1}) ||
                    numbers == (std::vector<int64_t>{2, 1}))
            << testing::PrintToString(numbers);
      },
      [this] {
        EXPECT_EQ(versions(), (std::vector<int64_t>{2, 1}));
      });
}

TEST_F(KilledRemoval, OfASetIsFinishedByTheNext) {
  kill_at_moments(
      Kill::at_a_store, stride(), [this] { write(1, 3); },
      drop(0, CAIRN_DROP_SET | CAIRN_DROP_LAST), [this] { EXPECT_LE(versions().size(), 3U); },
      [this] {
        const Attached pool(pool_);
        EXPECT_EQ(look(pool.get()), nullptr);
      });
}

}  // namespace
}  // namespace cairn::test
