// Processes are killed at random moments while they write versions: one of them, or all. Those that
// are left learn of it and end; what comes next, on another number of ranks, finds the newest
// version that was acknowledged, or the one in flight, each byte right.
//
//   CAIRN_SEED   repeats the moments as far as the system lets it
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <random>

#include "checkpoint/ranks.h"

namespace cairn::test {
namespace {

constexpr uint32_t ranks = 3;
constexpr int64_t rows_of_all = 900;
constexpr int rounds = 25;

// What the processes tell.
struct Told {
  std::atomic<int64_t> begun;         // the version that was begun last
  std::atomic<int64_t> acknowledged;  // the newest that a rank knows to be committed
  std::atomic<uint32_t> running;
};

[[noreturn]] void run_rank(const std::string& path, uint32_t rank, const std::string& job,
                           Told* told) {
  alarm(60);
  cairn_pool* pool = nullptr;
  if (cairn_pool_attach(path.c_str(), 0, &pool) != 0) _exit(10);
  cairn_checkpoint_options options{};
  options.struct_size = sizeof options;
  options.pool = pool;
  options.rank = rank;
  options.ranks = ranks;
  options.job = job.c_str();
  options.max_attempts = 1000;
  cairn_checkpoint* checkpoint = nullptr;
  if (cairn_checkpoint_init("field", CAIRN_NO_COMMUNICATOR, &options, &checkpoint) != 0) _exit(11);
  Rows rows(rows_of_all, rank, ranks);
  if (rows.define(checkpoint) != 0) _exit(12);
  auto info = empty_info();
  const int found = cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, &info);
  if (found < 0) _exit(cairn_checkpoint_finalize(checkpoint) == -EOWNERDEAD ? 0 : 13);
  if (found == 1) {
    const int read = cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info);
    if (read == -EOWNERDEAD) _exit(0);
    if (read != 0) _exit(14);
    if (!rows.difference(info.number).empty()) _exit(15);
  }
  told->running.fetch_add(1);
  for (int64_t version = info.number + 1;; ++version) {
    rows.set(version);
    int64_t begun = told->begun.load();
    while (begun < version && !told->begun.compare_exchange_weak(begun, version)) continue;
    const int written = cairn_checkpoint_write(checkpoint, version);
    if (written == -EOWNERDEAD) break;
    if (written != 0) _exit(16);
    int64_t before = told->acknowledged.load();
    while (before < version && !told->acknowledged.compare_exchange_weak(before, version)) continue;
  }
  cairn_checkpoint_finalize(checkpoint);
  cairn_pool_detach(pool);
  _exit(0);
}

class Killed : public testing::Test {
 protected:
  Killed() {
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = 64ULL << 20;
    EXPECT_EQ(cairn_pool_create(path().c_str(), &options), 0) << cairn_last_error();
    void* const shared =
        mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    told_ = new (shared) Told{};
  }
  ~Killed() override { munmap(told_, sizeof(Told)); }
  [[nodiscard]] std::string path() const { return folder_.path() + "/pool"; }

  // Starts the ranks and kills them, all or one; the others must end by themselves.
  void kill_at(uint64_t delay_us, bool all, uint32_t victim, const std::string& job) {
    told_->running = 0;
    pid_t pids[ranks];
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      pids[rank] = fork();
      if (pids[rank] == 0) run_rank(path(), rank, job, told_);
    }
    while (told_->running.load() < ranks) usleep(200);
    usleep(static_cast<useconds_t>(delay_us));
    for (uint32_t rank = 0; rank < ranks; ++rank)
      if (all || rank == victim) kill(pids[rank], SIGKILL);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      int status = 0;
      ASSERT_EQ(waitpid(pids[rank], &status, 0), pids[rank]);
      if (all || rank == victim) continue;
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "rank " << rank << " of those that were left: " << status;
    }
  }
  void judge(uint32_t readers) {
    cairn_pool* pool = nullptr;
    ASSERT_EQ(cairn_pool_attach(path().c_str(), 0, &pool), 0) << cairn_last_error();
    with_ranks(readers, [&](uint32_t rank) {
      cairn_checkpoint_options options{};
      options.rank = rank;
      options.ranks = readers;
      options.max_attempts = 1000;
      cairn_checkpoint* checkpoint = open_set(pool, "field", options);
      ASSERT_NE(checkpoint, nullptr);
      Rows rows(rows_of_all, rank, readers);
      ASSERT_EQ(rows.define(checkpoint), 0);
      auto info = empty_info();
      ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info), 0)
          << cairn_last_error();
      EXPECT_EQ(info.skipped, 0U) << info.why;
      EXPECT_GE(info.number, told_->acknowledged.load());
      EXPECT_LE(info.number, told_->begun.load());
      EXPECT_EQ(rows.difference(info.number), "");
      EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
    });
    cairn_pool_detach(pool);
  }

  TemporaryFolder folder_;
  Told* told_ = nullptr;
};

TEST_F(Killed, AtRandomMoments) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const bool all = random() % 2 == 0;
    kill_at(random() % 20'000, all, static_cast<uint32_t>(random() % ranks),
            "job " + std::to_string(round));
    if (told_->acknowledged.load() != 0) judge(1 + static_cast<uint32_t>(random() % 5));
  }
  EXPECT_GT(told_->acknowledged.load(), rounds);
}

// What a process by itself, which dies without a word, finds as the latest version; 0: none.
int64_t restart_and_die(const std::string& path, bool by_number) {
  int out[2];
  EXPECT_EQ(pipe(out), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    cairn_pool* pool = nullptr;
    if (cairn_pool_attach(path.c_str(), 0, &pool) != 0) _exit(1);
    cairn_checkpoint* checkpoint = open_set(pool, "field");
    Rows rows(rows_of_all, 0, 1);
    if (checkpoint == nullptr || rows.define(checkpoint) != 0) _exit(2);
    auto info = empty_info();
    const int64_t wanted = by_number ? 2 : CAIRN_CHECKPOINT_LATEST;
    const int read = cairn_checkpoint_read(checkpoint, wanted, 0, &info);
    if (read != 0 && read != -EEXIST) _exit(3);
    if (read == 0 && !rows.difference(info.number).empty()) _exit(4);
    _exit(write(out[1], &info.number, sizeof info.number) == sizeof info.number ? 0 : 5);
  }
  int64_t number = -1;
  close(out[1]);
  EXPECT_EQ(read(out[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
  close(out[0]);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  return number;
}

// "Tried, and crashed": a version whose restarts die is left out, unless somebody asks for it.
TEST_F(Killed, AVersionWhoseRestartsDieIsLeftOut) {
  const pid_t writer = fork();
  if (writer == 0) {
    cairn_pool* pool = nullptr;
    if (cairn_pool_attach(path().c_str(), 0, &pool) != 0) _exit(1);
    cairn_checkpoint* checkpoint = open_set(pool, "field");
    Rows rows(rows_of_all, 0, 1);
    rows.define(checkpoint);
    for (const int64_t version : {1, 2}) {
      rows.set(version);
      if (cairn_checkpoint_write(checkpoint, version) != 0) _exit(2);
    }
    cairn_checkpoint_finalize(checkpoint);
    cairn_pool_detach(pool);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  ASSERT_EQ(status, 0);
  std::vector<int64_t> found;
  for (int i = 0; i < 11; ++i) found.push_back(restart_and_die(path(), false));
  EXPECT_EQ(found, (std::vector<int64_t>{2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(restart_and_die(path(), true), 2);
}

}  // namespace
}  // namespace cairn::test
