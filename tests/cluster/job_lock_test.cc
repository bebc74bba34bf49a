// Locks of a job, and processes that end while they have one.
#include "cluster/rpc/job_lock.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "capi/job/job.h"
#include "cluster/covered_nodes.h"
#include "cluster/rpc/broadcast.h"

namespace cairn::test {
namespace {

constexpr uint64_t some_lock = 7;

cluster::Job& job_of(const CoveredNodes& covered, uint32_t node) { return covered.job(node)->job; }

// Another process of a node: it attaches the pool and lives until it is killed.
class OtherProcess {
 public:
  OtherProcess() {
    EXPECT_EQ(pipe(to_child_), 0);
    EXPECT_EQ(pipe(from_child_), 0);
    child_ = fork();
    if (child_ == 0) live();
  }
  ~OtherProcess() { kill(); }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  // Its number (process_number()) once it has attached the pool.
  uint64_t attach(const std::string& pool) {
    EXPECT_EQ(write(to_child_[1], pool.c_str(), pool.size() + 1),
              static_cast<ssize_t>(pool.size() + 1));
    uint64_t number = 0;
    EXPECT_EQ(read(from_child_[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
    return number;
  }
  void stop() const { EXPECT_EQ(::kill(child_, SIGSTOP), 0); }
  void kill() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    child_ = 0;
  }

 private:
  [[noreturn]] void live() const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char path[4096] = {};
    cairn_pool* pool = nullptr;
    if (read(to_child_[0], path, sizeof path) <= 0 || cairn_pool_attach(path, 0, &pool) != 0)
      _exit(1);
    cairn_node node = {};
    cairn_node_describe(pool, &node);
    cairn_job* job = nullptr;
    if (cairn_job_open(pool, "/", &node, 1, 0, nullptr, nullptr, nullptr, &job) != 0) _exit(1);
    const uint64_t number = cluster::process_number(job->job);
    if (write(from_child_[1], &number, sizeof number) != sizeof number) _exit(1);
    while (true) pause();
  }

  int to_child_[2] = {};
  int from_child_[2] = {};
  pid_t child_ = 0;
};

// What that process would send; it takes the lock from another one of its node that is gone.
void lock_for(const CoveredNodes& covered, uint32_t keeper, uint64_t home, uint32_t node,
              uint64_t process, const std::string& undertaking = "", uint64_t gone = 0) {
  cluster::Request request = {};
  request.op = cluster::Op::lock;
  request.home = home;
  request.which = node;
  request.value = static_cast<int64_t>(process);
  const cluster::Holder from = {gone == 0 ? 0 : node, gone};
  std::memcpy(request.uuid.data(), &from, sizeof from);
  const auto locked =
      cluster::ask_nodes(job_of(covered, 1 - keeper), {keeper}, request, undertaking, 1024);
  ASSERT_TRUE(locked.status.ok()) << last_detail();
  EXPECT_EQ(locked.all.front().value, gone == 0 ? 1 : 2);
}

TEST(LocksOfAJob, AreHeldByOneAtATime) {
  CoveredNodes covered(3);
  std::atomic<int> inside = 0;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 6; ++i)
    threads.emplace_back([&, i] {
      cluster::Job& job = job_of(covered, i % 3);
      for (int round = 0; round < 50; ++round) {
        EXPECT_TRUE(cluster::lock(job, 1, some_lock, "file").ok());
        EXPECT_EQ(++inside, 1);
        --inside;
        EXPECT_TRUE(cluster::unlock(job, 1, some_lock).ok());
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(LocksOfAJob, GoOnWhenTheirHolderIsKilled) {
  OtherProcess other;
  CoveredNodes covered(2);
  const std::string pool = job_of(covered, 1).own_node().path;
  lock_for(covered, 0, some_lock, 1, other.attach(pool));
  std::atomic<int> locked = 0;
  std::vector<std::thread> threads;
  for (uint32_t node = 0; node < 2; ++node)
    threads.emplace_back([&, node] {
      cluster::Job& job = job_of(covered, node);
      EXPECT_TRUE(cluster::lock(job, 0, some_lock, "file").ok()) << last_detail();
      ++locked;
      EXPECT_TRUE(cluster::unlock(job, 0, some_lock).ok());
    });
  // As long as it lives, the others wait, also beyond the time after which they ask.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(locked, 0);
  other.kill();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(locked, 2);
}

// Who takes it goes on with what that one did with it, and whoever takes it from him, too.
TEST(LocksOfAJob, AreTakenWithWhatTheirHolderWasDoing) {
  OtherProcess first;
  OtherProcess second;
  CoveredNodes covered(2);
  const std::string pool = job_of(covered, 1).own_node().path;
  const uint64_t numbers[] = {first.attach(pool), second.attach(pool)};
  lock_for(covered, 0, some_lock, 1, numbers[0], "making");
  first.kill();
  lock_for(covered, 0, some_lock, 1, numbers[1], "moving", numbers[0]);
  second.kill();
  cluster::Job& job = job_of(covered, 0);
  cluster::Told told = {"removing", {}};
  ASSERT_TRUE(cluster::lock(job, 0, some_lock, "file", &told).ok()) << last_detail();
  EXPECT_EQ(told.left, (std::vector<std::string>{"making", "moving"}));
  EXPECT_TRUE(cluster::unlock(job, 0, some_lock).ok());
  told.left.clear();
  ASSERT_TRUE(cluster::lock(job, 0, some_lock, "file", &told).ok());
  EXPECT_TRUE(told.left.empty());
  EXPECT_TRUE(cluster::unlock(job, 0, some_lock).ok());
}

// And who could not finish it leaves it to the next one, without what he wanted himself.
TEST(LocksOfAJob, AreGivenOnWithWhatCouldNotBeFinished) {
  OtherProcess other;
  CoveredNodes covered(2);
  const uint64_t number = other.attach(job_of(covered, 1).own_node().path);
  lock_for(covered, 0, some_lock, 1, number, "moving");
  other.kill();
  cluster::Job& job = job_of(covered, 0);
  for (const bool finished : {false, false, true}) {
    cluster::Told told = {"removing", {}};
    ASSERT_TRUE(cluster::lock(job, 0, some_lock, "file", &told).ok()) << last_detail();
    EXPECT_EQ(told.left, (std::vector<std::string>{"moving"}));
    EXPECT_TRUE(cluster::unlock(job, 0, some_lock, !finished).ok());
  }
  cluster::Told told = {"removing", {}};
  ASSERT_TRUE(cluster::lock(job, 0, some_lock, "file", &told).ok());
  EXPECT_TRUE(told.left.empty());
  EXPECT_TRUE(cluster::unlock(job, 0, some_lock).ok());
}

TEST(LocksOfAJob, SayForWhomTheyWaitThatStandsStill) {
  OtherProcess other;
  CoveredNodes covered(2);
  lock_for(covered, 0, some_lock, 1, other.attach(job_of(covered, 1).own_node().path));
  std::thread thread([&] {
    cluster::Job& job = job_of(covered, 0);
    EXPECT_TRUE(cluster::lock(job, 0, some_lock, "file").ok()) << last_detail();
    EXPECT_TRUE(cluster::unlock(job, 0, some_lock).ok());
  });
  // One that goes on is nobody's concern.
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_EQ(covered.nodes().waits_told, 0U);
  other.stop();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (covered.nodes().longest_wait_ms < 300 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(covered.nodes().longest_wait_ms, 300U);
  other.kill();
  thread.join();
  EXPECT_EQ(covered.nodes().waited_for, "file: a process of node node1 (pool " +
                                            job_of(covered, 1).own_node().path +
                                            ") that holds the lock and is stopped");
}

// An unlock that comes late changes nothing for who has the lock by then.
TEST(LocksOfAJob, AreUnlockedByTheirHolderOnly) {
  CoveredNodes covered(2);
  ASSERT_TRUE(cluster::lock(job_of(covered, 0), 0, some_lock, "file").ok());
  ASSERT_TRUE(cluster::unlock(job_of(covered, 1), 0, some_lock).ok());
  cluster::Request request = {};
  request.op = cluster::Op::lock;
  request.home = some_lock;
  request.which = 1;
  request.value = static_cast<int64_t>(cluster::process_number(job_of(covered, 1)));
  const auto got = job_of(covered, 1).ask(0, request);
  EXPECT_TRUE(got.ok() && *got == 0);
  EXPECT_TRUE(cluster::unlock(job_of(covered, 0), 0, some_lock).ok());
}

}  // namespace
}  // namespace cairn::test
