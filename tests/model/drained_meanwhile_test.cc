// Random operations against a model in a covered directory, while another process drains what they
// have made and evicts it, down to a hundredth of a tiny pool. Where bytes lie changes all the
// time, and nothing else does.
//
//   CAIRN_SEED, CAIRN_MODEL_SECONDS   repeat a failure, run for longer
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <functional>
#include <new>
#include <set>

#include "cairn/cover.h"
#include "cairn/tier.h"
#include "model/exerciser.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t pool_bytes = uint64_t{6} << 20;

// What the keeper tells the test.
struct Kept {
  std::atomic<bool> is_over{false};
  std::atomic<uint64_t> drained{0};  // files
  std::atomic<uint64_t> evicted{0};
  std::atomic<int> error{0};
};

struct OpenCover {
  OpenCover(const std::string& path, const std::string& lower, bool joins) : pool(attach(path)) {
    cairn_cover_options options{};
    options.struct_size = sizeof options;
    const int result = joins ? cairn_cover_join(pool, lower.c_str(), &cover)
                             : cairn_cover_open(pool, lower.c_str(), &options, &cover);
    EXPECT_EQ(result, 0) << cairn_last_error();
  }
  ~OpenCover() {
    if (cover != nullptr) cairn_cover_close(cover);
    cairn_pool_detach(pool);
  }
  OpenCover(const OpenCover&) = delete;
  OpenCover& operator=(const OpenCover&) = delete;

  cairn_pool* pool = nullptr;
  cairn_cover* cover = nullptr;
};

// Calls visit(path below `directory`, status) for all names; what is removed meanwhile is left out.
void for_each_name(cairn_pool* pool, cairn_ino directory, const std::string& path,
                   const std::function<void(const std::string&, const cairn_stat&)>& visit) {
  cairn_dirent batch[64];
  for (uint64_t cookie = 0;;) {
    const int n = cairn_readdir(pool, directory, cookie, batch, std::size(batch));
    if (n <= 0) return;
    cookie = batch[n - 1].cookie;
    for (int i = 0; i < n; ++i) {
      const std::string name(batch[i].name, batch[i].length);
      cairn_stat st{};
      if (name == "." || name == ".." ||
          cairn_lookup(pool, directory, name.c_str(), CAIRN_NOFOLLOW, &st) != 0)
        continue;
      visit(path + name, st);
      if (S_ISDIR(st.mode)) for_each_name(pool, st.ino, path + name + "/", visit);
    }
  }
}

// All that can be; how many files.
uint64_t evict_all(cairn_pool* pool, cairn_ino top) {
  uint64_t evicted = 0;
  for_each_name(pool, top, "", [&](const std::string&, const cairn_stat& st) {
    if (S_ISREG(st.mode) && cairn_evict(pool, st.ino, st.generation, nullptr) == 0) ++evicted;
  });
  return evicted;
}

// The process that drains and evicts until it is told to end.
void keep(const std::string& path, const std::string& lower, Kept& kept) {
  const OpenCover own(path, lower, true);
  cairn_pool_info info{};
  cairn_pool_get_info(own.pool, &info);
  const uint64_t mark = info.usable / 100;
  const auto problem = [](void*, const char* text) {
    std::fprintf(stderr, "the keeper: %.200s\n", text);
  };
  while (!kept.is_over) {
    cairn_while_running rule{};
    rule.struct_size = sizeof rule;
    rule.open_too = 1;
    rule.mode = CAIRN_DRAIN_ASYNC;
    cairn_drain_report report{};
    const int result =
        cairn_cover_drain_while_running(own.cover, &rule, nullptr, problem, nullptr, &report);
    if (result != 0) kept.error = result;
    kept.drained += report.files;
    if (used_bytes(own.pool) > mark)
      kept.evicted += evict_all(own.pool, cairn_cover_top(own.cover));
  }
}

std::set<std::string> names_in(const std::string& lower) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(lower)) {
    const std::string name = entry.path().string().substr(lower.size() + 1);
    if (name.rfind(".cairn-claim", 0) != 0) names.insert(name);
  }
  return names;
}

class DrainedMeanwhile : public testing::Test {
 protected:
  void SetUp() override {
    make_pool(path_, pool_bytes);
    fs::create_directory(lower_);
    void* at =
        mmap(nullptr, sizeof(Kept), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    kept_ = new (at) Kept;
    options_.seed = test_seed();
    options_.may_be_full = true;
    options_.is_covered = true;
    options_.most_bytes_a_write = 100'000;
  }
  void TearDown() override {
    if (kept_ != nullptr) munmap(kept_, sizeof(Kept));
  }
  pid_t start_keeper() {
    kept_->is_over = false;
    const pid_t keeper = fork();
    if (keeper == 0) {
      keep(path_, lower_, *kept_);
      _exit(HasFailure() ? 1 : 0);
    }
    return keeper;
  }
  void end_keeper(pid_t keeper) {
    kept_->is_over = true;
    int status = 0;
    ASSERT_EQ(waitpid(keeper, &status, 0), keeper);
    EXPECT_EQ(status, 0);
  }
  // Drains, with the keeper gone. Lower then has the names of the pool and no others.
  void expect_drained(const OpenCover& own) {
    const auto problem = [](void*, const char* text) { ADD_FAILURE() << text; };
    cairn_drain_report report{};
    EXPECT_EQ(cairn_cover_drain(own.cover, nullptr, problem, nullptr, &report), 0)
        << cairn_last_error();
    std::set<std::string> in_lower = names_in(lower_);
    for_each_name(own.pool, cairn_cover_top(own.cover), "",
                  [&](const std::string& name, const cairn_stat&) {
                    if (in_lower.erase(name) == 0) ADD_FAILURE() << name << " is not in lower";
                  });
    for (const std::string& name : in_lower) ADD_FAILURE() << name << " is left in lower";
  }
  // Rounds of operations, each with a keeper; at the end of each all that can be is evicted, and is
  // then read from lower.
  void exercise() {
    const double end =
        now_s() + static_cast<double>(number_from_environment("CAIRN_MODEL_SECONDS", 4)) / 2;
    uint64_t operations = 0;
    const OpenCover own(path_, lower_, false);
    // At first all is in the pool, and nothing in lower.
    EXPECT_EQ(names_in(lower_), std::set<std::string>());
    for (uint64_t round = 0; (round == 0 || now_s() < end) && !HasFailure(); ++round) {
      SCOPED_TRACE("seed " + std::to_string(options_.seed));
      Exerciser exerciser(own.pool, cairn_cover_top(own.cover), options_);
      const pid_t keeper = start_keeper();
      while (exerciser.operations() < 1500 && (round == 0 || now_s() < end) && exerciser.step())
        if (exerciser.operations() % 250 == 0 && !exerciser.verify()) break;
      end_keeper(keeper);
      if (!HasFailure()) exerciser.verify();
      if (!HasFailure()) {
        expect_drained(own);
        evict_all(own.pool, cairn_cover_top(own.cover));
        for_each_name(own.pool, cairn_cover_top(own.cover), "",
                      [&](const std::string&, const cairn_stat& st) {
                        read_in_lower_ += (st.flags & CAIRN_FILE_EVICTED) != 0 ? 1 : 0;
                      });
        exerciser.verify();
      }
      if (!HasFailure()) exerciser.remove_all();
      operations += exerciser.operations();
      ++options_.seed;
      if (!HasFailure()) expect_drained(own);
    }
    EXPECT_EQ(kept_->error, 0);
    EXPECT_GT(kept_->drained, 0U);
    EXPECT_GT(kept_->evicted, 0U);
    EXPECT_GT(read_in_lower_, 0U);
    std::printf(
        "%llu operations; keepers drained %llu files and evicted %llu; at the ends of rounds "
        "%llu were read in lower\n",
        static_cast<unsigned long long>(operations),
        static_cast<unsigned long long>(kept_->drained),
        static_cast<unsigned long long>(kept_->evicted),
        static_cast<unsigned long long>(read_in_lower_));
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/pool";
  const std::string lower_ = folder_.path() + "/lower";
  ExerciserOptions options_;
  Kept* kept_ = nullptr;
  uint64_t read_in_lower_ = 0;
};

TEST_F(DrainedMeanwhile, AgreesWithTheModel) {
  options_.keeps_directories = true;
  exercise();
}

TEST_F(DrainedMeanwhile, AgreesWithTheModelWhoseDirectoriesMove) { exercise(); }

}  // namespace
}  // namespace cairn::test
