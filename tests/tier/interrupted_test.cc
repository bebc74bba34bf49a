// Drains that are killed at any moment lose nothing, leave nothing, and the next one finishes the
// work.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "support/pool_stores.h"
#include "tier/exercise.h"

namespace cairn::test {
namespace {

class InterruptedTest : public CoverTest {
 protected:
  // Runs `work` in a process of its own, killed after `us` microseconds. True if it came to its
  // end.
  template <typename Work>
  bool killed_after(int64_t us, Work work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    if (us > 0) usleep(static_cast<useconds_t>(us));
    if (us > 0) kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      return true;
    }
    return false;
  }
  // 0: not at all.
  static void kill_at_store(cairn_pool* pool, uint64_t last) {
    if (last == 0) return;
    set_store_hook(pool, [last](uint64_t number) {
      if (number == last) kill(getpid(), SIGKILL);
    });
  }
  // Killed at its store `last` to the pool.
  int drain_elsewhere(uint64_t last = 0) {
    cairn_pool* pool = nullptr;
    cairn_cover* cover = nullptr;
    if (cairn_pool_attach(pool_.c_str(), 0, &pool) != 0) return 2;
    if (cairn_cover_join(pool, lower_.c_str(), &cover) != 0) return 3;
    kill_at_store(pool, last);
    cairn_drain_report report = {};
    const auto problem = [](void*, const char* text) { fprintf(stderr, "%s\n", text); };
    if (cairn_cover_drain(cover, nullptr, problem, nullptr, &report) != 0) return 4;
    cairn_cover_close(cover);
    cairn_pool_detach(pool);
    return 0;
  }
};

TEST_F(InterruptedTest, KilledDrainsAreFinishedByTheNext) {
  const char* given = std::getenv("CAIRN_SEED");
  const uint64_t first =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  SCOPED_TRACE("CAIRN_SEED=" + std::to_string(first));
  std::mt19937_64 random(first);
  make_pool();
  Exercise exercise(first);
  exercise.populate(lower_);
  int kills = 0;
  // How long a drain is let live at most, or how much it may store to the pool: less where a drain
  // is over sooner.
  constexpr uint64_t longest_us = 12000;
  constexpr uint64_t most_stores = 2000;
  uint64_t at_most[] = {longest_us, most_stores};
  for (int round = 0; round < 25 && !HasFailure(); ++round) {
    std::map<std::string, std::string> shown;
    {
      Covered covered(pool_, lower_);
      for (int i = 0; i < 80; ++i) exercise.step(covered);
      shown = covered.describe();
    }
    for (int i = 0; i < 200; ++i) {
      const bool by_stores = random() % 2 != 0;
      uint64_t& most = at_most[by_stores ? 1 : 0];
      const uint64_t last = 1 + random() % most;
      const bool ended = by_stores ? killed_after(0, [&] { return drain_elsewhere(last); })
                                   : killed_after(static_cast<int64_t>(last),
                                                  [this] { return drain_elsewhere(); });
      if (ended) {
        most = std::max<uint64_t>(most / 4, 50);
        break;
      }
      most = std::min(most + most / 16, by_stores ? most_stores : longest_us);
      ++kills;
    }
    ASSERT_TRUE(killed_after(0, [this] { return drain_elsewhere(); })) << "round " << round;
    ASSERT_EQ(difference(shown, describe(lower_)), "") << "round " << round;
    for (const auto& entry : fs::recursive_directory_iterator(lower_))
      ASSERT_EQ(entry.path().filename().string().rfind(".cairn-drain-", 0), std::string::npos)
          << entry.path();
  }
  EXPECT_GT(kills, 50);
}

// Lower is as it was, or as if nobody had discarded anything: nothing of what was half thrown away
// is drained.
TEST_F(InterruptedTest, KilledDiscardsHappenOrNot) {
  const uint64_t first = std::random_device()();
  SCOPED_TRACE(first);
  std::mt19937_64 random(first);
  make_pool();
  Exercise exercise(first);
  exercise.populate(lower_);
  int kills = 0;
  uint64_t most = 500;
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const auto before = describe(lower_);
    std::map<std::string, std::string> shown;
    {
      Covered covered(pool_, lower_);
      for (int i = 0; i < 40; ++i) exercise.step(covered);
      shown = covered.describe();
    }
    const uint64_t last = 1 + random() % most;
    const bool ended = killed_after(0, [&] {
      Covered covered(pool_, lower_, true);
      kill_at_store(covered.pool, last);
      return covered.discard() == 0 ? 0 : 1;
    });
    if (!ended) ++kills;
    most = ended ? std::max<uint64_t>(most / 2, 50) : most + most / 8;
    {
      Covered covered(pool_, lower_);
      const auto again = covered.describe();
      EXPECT_TRUE(again == before || (!ended && again == shown)) << difference(before, again);
      EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
      EXPECT_EQ(difference(again, describe(lower_)), "");
      EXPECT_EQ(covered.discard(), 0) << cairn_last_error();
    }
    break_links(lower_);
  }
  EXPECT_GT(kills, 10);
}

TEST_F(InterruptedTest, KilledImportsAreFinishedByTheNext) {
  std::mt19937_64 random(std::random_device{}());
  make_pool();
  for (int i = 0; i < 400; ++i)
    put(lower_ + "/" + std::to_string(i), std::string(5000, static_cast<char>('a' + i % 26)));
  const auto before = describe(lower_);
  for (int round = 0; round < 15 && !HasFailure(); ++round) {
    for (int i = 0; i < 8; ++i) {
      const uint64_t last = i % 2 == 0 ? 0 : 1 + random() % 30000;
      killed_after(last != 0 ? 0 : 1 + static_cast<int64_t>(random() % 20000), [this, last] {
        Covered covered(pool_, lower_);
        kill_at_store(covered.pool, last);
        covered.list(".");
        for (int f = 0; f < 400; ++f) covered.write(std::to_string(f), "");
        for (int f = 0; f < 400; ++f) {
          const std::string name = std::to_string(f);
          cairn_rename(covered.pool, covered.top, name.c_str(), covered.top, ("m" + name).c_str(),
                       0);
          cairn_rename(covered.pool, covered.top, ("m" + name).c_str(), covered.top, name.c_str(),
                       0);
        }
        return 0;
      });
    }
    Covered covered(pool_, lower_);
    // A rename in the middle of which somebody died happened or did not.
    auto shown = covered.describe();
    std::map<std::string, std::string> renamed;
    for (auto& [path, line] : shown)
      renamed[path.rfind("/m", 0) == 0 ? "/" + path.substr(2) : path] = line;
    renamed[""] = before.at("");
    EXPECT_EQ(difference(renamed, before), "");
    ASSERT_EQ(covered.discard(), 0) << cairn_last_error();
  }
}

TEST_F(InterruptedTest, ProcessesThatImportAndStageAtOnceSeeTheSame) {
  make_pool();
  fs::create_directory(lower_ + "/dir");
  for (int i = 0; i < 100; ++i)
    put(lower_ + "/dir/" + std::to_string(i), std::string(20000, static_cast<char>('a' + i % 26)));
  const Covered first(pool_, lower_);
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    cairn_pool* pool = nullptr;
    cairn_cover* cover = nullptr;
    if (cairn_pool_attach(pool_.c_str(), 0, &pool) != 0) _exit(2);
    if (cairn_cover_join(pool, lower_.c_str(), &cover) != 0) _exit(3);
    for (int i = 0; i < 100; ++i) {
      const std::string path = "dir/" + std::to_string(i);
      cairn_file* file = nullptr;
      if (cairn_open(pool, cairn_cover_top(cover), path.c_str(), 2 /* O_RDWR */, 0, &file) != 0)
        _exit(4);
      // Each writes a byte of his own; what is around it must be lower's.
      if (cairn_pwrite(file, &"PQRS"[p], 1, static_cast<uint64_t>(5000 * p)) != 1) _exit(5);
      char buffer[20000];
      if (cairn_pread(file, buffer, sizeof buffer, 0) != sizeof buffer) _exit(6);
      for (int at = 0; at < 20000; ++at) {
        const char other = at % 5000 == 0 ? "PQRS"[at / 5000] : '\0';
        if (buffer[at] != 'a' + i % 26 && buffer[at] != other) _exit(7);
      }
      if (buffer[5000 * p] != "PQRS"[p]) _exit(8);
      cairn_close(file);
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace cairn::test
