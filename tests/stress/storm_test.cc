// The storm: eight processes work on one pool and are killed at random moments, stopped for a
// while, fork and exec. Nothing acknowledged is lost, nobody hangs, no block leaks.
//
//   CAIRN_SEED, CAIRN_STORM_SECONDS   repeat a failure (as far as timing lets one), run for longer
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <vector>

#include "stress/worker.h"

namespace cairn::test {
namespace {

constexpr double longest_wait_s = 20;  // two busy cores under a sanitizer are slow

// The worker's own timer strikes at a random instruction, mostly inside a call.
void die_soon(Random& random) {
  std::signal(SIGALRM, [](int) { kill(getpid(), SIGKILL); });
  itimerval timer{};
  timer.it_value.tv_usec = static_cast<suseconds_t>(200 + random.below(30'000));
  setitimer(ITIMER_REAL, &timer, nullptr);
}

[[noreturn]] void live(Oracle& oracle, unsigned number, const std::string& path, uint64_t seed,
                       double end_s) {
  Random random(seed);
  ++oracle.worker[number].heartbeat;
  cairn_pool* pool = nullptr;
  // Recovery and comparing are struck too, now and then.
  if (random.one_in(4)) die_soon(random);
  if (const int r = cairn_pool_attach(path.c_str(), 0, &pool); r != 0) {
    if (oracle.failures.fetch_add(1) == 0)
      std::snprintf(oracle.failure, sizeof oracle.failure, "attach: %d %s", r, cairn_last_error());
    _exit(1);
  }
  Worker worker(oracle, number, pool, random.next());
  if (!worker.compare()) _exit(1);
  if (random.one_in(2)) die_soon(random);
  if (!worker.work(end_s)) _exit(1);
  cairn_pool_detach(pool);
  _exit(0);
}

struct Crew {
  Oracle* oracle;
  std::string path;
  Random random;
  double end_s;
  pid_t pid[workers] = {};
  uint64_t seen[workers] = {};
  double since[workers] = {};
  uint64_t deaths = 0;
  uint64_t stops = 0;

  void start(unsigned w) {
    const uint64_t seed = random.next();
    pid[w] = fork();
    if (pid[w] == 0) live(*oracle, w, path, seed, end_s);
    since[w] = now_s();
  }
  void bury() {
    for (unsigned w = 0; w < workers; ++w) {
      int status = 0;
      if (pid[w] <= 0 || waitpid(pid[w], &status, WNOHANG) != pid[w]) continue;
      pid[w] = 0;
      deaths += WIFSIGNALED(status) ? 1 : 0;
      if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && oracle->failures.fetch_add(1) == 0)
        std::snprintf(oracle->failure, sizeof oracle->failure, "worker %u died of signal %d", w,
                      WTERMSIG(status));
      if (now_s() < end_s && oracle->failures == 0) start(w);
    }
  }
  // False if one makes no progress though nobody is stopped.
  bool watch() {
    for (unsigned w = 0; w < workers; ++w) {
      const uint64_t now = oracle->worker[w].heartbeat;
      if (now != seen[w]) {
        seen[w] = now;
        since[w] = now_s();
      } else if (pid[w] > 0 && now_s() - since[w] > longest_wait_s) {
        ADD_FAILURE() << "worker " << w << " (pid " << pid[w] << ") hangs in operation "
                      << oracle->worker[w].operations << ", intent "
                      << static_cast<unsigned>(oracle->worker[w].intent.load());
        return false;
      }
    }
    return true;
  }
  void strike() {
    const auto w = static_cast<unsigned>(random.below(workers));
    if (pid[w] <= 0) return;
    if (random.one_in(3)) {
      ++stops;
      kill(pid[w], SIGSTOP);
      usleep(static_cast<useconds_t>(random.below(30'000)));
      if (random.one_in(2)) kill(pid[w], SIGKILL);  // a stopped one dies too
      kill(pid[w], SIGCONT);
    } else {
      kill(pid[w], SIGKILL);
    }
  }
};

// Waits for the children of the killed, which are ours; false if some had to be killed.
bool orphans_end() {
  const double patience = now_s() + longest_wait_s;
  bool patient = true;
  for (;;) {
    const pid_t gone = waitpid(-1, nullptr, WNOHANG);
    if (gone < 0 && errno == ECHILD) return patient;
    if (gone != 0) continue;
    if (now_s() > patience) {
      patient = false;
      std::ifstream children("/proc/thread-self/children");
      for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
    }
    usleep(2000);
  }
}

void storm(double seconds, uint64_t seed) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/pool";
  make_pool(path, uint64_t{48} << 20, 64);
  auto* oracle = static_cast<Oracle*>(
      mmap(nullptr, sizeof(Oracle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(oracle), MAP_FAILED);
  new (oracle) Oracle;
  std::snprintf(oracle->pool_path, sizeof oracle->pool_path, "%s", path.c_str());
  cairn_pool* pool = attach(path);
  ASSERT_NE(pool, nullptr);
  for (unsigned w = 0; w < workers; ++w)
    ASSERT_EQ(cairn_mkdir(pool, CAIRN_ROOT, ("w" + std::to_string(w)).c_str(), 0700), 0);
  for (const char* name : {"log", "shared"})
    ASSERT_EQ(cairn_mknod(pool, CAIRN_ROOT, name, S_IFREG | 0600), 0) << cairn_last_error();
  cairn_pool_detach(pool);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // children of the killed are waited for as well

  Crew crew{oracle, path, Random(seed), now_s() + seconds};
  for (unsigned w = 0; w < workers; ++w) crew.start(w);
  bool moving = true;
  while (now_s() < crew.end_s && oracle->failures == 0 && moving) {
    usleep(static_cast<useconds_t>(500 + crew.random.below(20'000)));
    crew.strike();
    crew.bury();
    moving = crew.watch();
  }
  // The last ones end by themselves.
  const double patience = now_s() + longest_wait_s;
  bool left = true;
  while (left && now_s() < patience && moving) {
    crew.bury();
    left = false;
    for (pid_t pid : crew.pid) left = left || pid > 0;
    usleep(2000);
  }
  EXPECT_FALSE(left) << "a worker did not end";
  for (pid_t pid : crew.pid) {
    if (pid > 0) kill(pid, SIGKILL);
  }
  EXPECT_TRUE(orphans_end()) << "a child of a killed worker did not end";
  ASSERT_EQ(oracle->failures, 0U) << oracle->failure << " (seed " << seed << ")";

  pool = attach(path);
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(compare_log(*oracle, pool), "") << "seed " << seed;
  uint64_t operations = 0;
  for (unsigned w = 0; w < workers; ++w) {
    EXPECT_TRUE(Worker(*oracle, w, pool, 1).compare()) << oracle->failure;
    operations += oracle->worker[w].operations;
  }
  cairn_pool_detach(pool);
  EXPECT_EQ(check_pool(path), 0) << "seed " << seed;
  std::printf(
      "%llu operations, %llu deaths, %llu stops\n", static_cast<unsigned long long>(operations),
      static_cast<unsigned long long>(crew.deaths), static_cast<unsigned long long>(crew.stops));

  pool = attach(path);
  ASSERT_NE(pool, nullptr);
  for (unsigned w = 0; w < workers; ++w) {
    const std::string directory = "w" + std::to_string(w);
    for (unsigned f = 0; f < files_per_worker; ++f)
      cairn_unlink(pool, CAIRN_ROOT, (directory + "/f" + std::to_string(f)).c_str());
    EXPECT_EQ(cairn_rmdir(pool, CAIRN_ROOT, directory.c_str()), 0) << cairn_last_error();
  }
  for (const char* name : {"log", "shared"}) EXPECT_EQ(cairn_unlink(pool, CAIRN_ROOT, name), 0);
  cairn_pool_info info;
  ASSERT_EQ(cairn_pool_get_info(pool, &info), 0);
  EXPECT_EQ(info.inodes, 1U);
  // What stays are the tables and the root directory; each of 64 lists may have held 32 orphans, so
  // the inode table may have grown to 256 blocks. Leaks are what the check above looks for.
  EXPECT_LE(info.used, 350 * block_size) << "blocks leaked";
  cairn_pool_detach(pool);
  EXPECT_EQ(check_pool(path), 0);
  munmap(oracle, sizeof(Oracle));
}

TEST(Storm, LosesNothing) {
  const double end =
      now_s() + static_cast<double>(number_from_environment("CAIRN_STORM_SECONDS", 15));
  uint64_t seed = test_seed();
  while (now_s() < end && !HasFailure())
    storm(std::min(15.0, std::max(2.0, end - now_s())), seed++);
}

}  // namespace
}  // namespace cairn::test
