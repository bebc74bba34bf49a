// A drain and the evictions after it, as a keeper and a program that is short of room make them:
// killed at any call to lower or store to the pool, and met there by a program's calls. Nothing
// that a call has acknowledged is lost, and lower never shows a part of a file.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "pool/lanes/free_lane.h"
#include "pool/lanes/recover.h"
#include "support/pool_stores.h"
#include "tier/evict_fixture.h"
#include "tier/killed_at_calls.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

constexpr size_t file_size = 300'000;

// What the test's processes share.
struct Shared {
  std::atomic<int> acted{0};
  std::atomic<int> failed{0};
};

// What a program does with the file, and what the file holds then. False: it has seen something
// wrong.
struct Act {
  const char* name;
  bool (*act)(Covered& covered, const std::string& bytes);
  std::string (*then)(std::string bytes);
  const char* file = "file";  // its name then; null: it is gone
};

// The pool makes calls of its own, with its locks held.
bool is_to_lower(const LowerCall& call) {
  for (long number : {SYS_membarrier, SYS_gettid, SYS_tgkill, SYS_fcntl, SYS_getrandom, SYS_close})
    if (call.number == number) return false;
  return true;
}

int call_on(Covered& covered, int flags, const std::function<int64_t(cairn_file*)>& call) {
  cairn_file* file = nullptr;
  if (cairn_open(covered.pool, covered.top, "file", flags, 0, &file) != 0) return -1;
  const int64_t result = call(file);
  cairn_close(file);
  return static_cast<int>(result);
}

std::string same(std::string bytes) { return bytes; }

const std::vector<Act>& all_acts() {
  static const std::vector<Act> acts = {
      {"nothing", [](Covered&, const std::string&) { return true; }, same},
      {"read",
       [](Covered& covered, const std::string& bytes) { return covered.read("file") == bytes; },
       same},
      {"write",
       [](Covered& covered, const std::string&) {
         return call_on(covered, O_RDWR, [](cairn_file* file) {
                  return cairn_pwrite(file, "NEW", 3, 100'000);
                }) == 3;
       },
       [](std::string bytes) { return bytes.replace(100'000, 3, "NEW"); }},
      {"append",
       [](Covered& covered, const std::string&) {
         return call_on(covered, O_RDWR, [](cairn_file* file) {
                  const iovec vector = {const_cast<char*>("END"), 3};
                  return cairn_appendv(file, &vector, 1);
                }) == 3;
       },
       [](std::string bytes) { return bytes + "END"; }},
      {"truncate",
       [](Covered& covered, const std::string&) {
         return call_on(covered, O_RDWR,
                        [](cairn_file* file) { return cairn_ftruncate(file, 50'001); }) == 0;
       },
       [](std::string bytes) { return bytes.substr(0, 50'001); }},
      {"grow",
       [](Covered& covered, const std::string&) {
         return call_on(covered, O_RDWR, [](cairn_file* file) {
                  return cairn_ftruncate(file, file_size + 10'000);
                }) == 0;
       },
       [](std::string bytes) { return bytes + std::string(10'000, '\0'); }},
      {"write through a mapping",
       [](Covered& covered, const std::string&) {
         void* at = nullptr;
         const int result = call_on(covered, O_RDWR, [&at](cairn_file* file) {
           return cairn_mmap(file, nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 0, &at);
         });
         if (result != 0) return false;
         std::memcpy(static_cast<char*>(at) + 5000, "NEW", 3);
         return cairn_munmap(covered.pool, at, 8192) == 0;
       },
       [](std::string bytes) { return bytes.replace(5000, 3, "NEW"); }},
      {"rename",
       [](Covered& covered, const std::string&) {
         return cairn_rename(covered.pool, covered.top, "file", covered.top, "moved", 0) == 0;
       },
       same, "moved"},
      {"remove",
       [](Covered& covered, const std::string&) {
         return cairn_unlink(covered.pool, covered.top, "file") == 0;
       },
       same, nullptr},
  };
  return acts;
}

class DrainAndEvict : public EvictTest, public testing::WithParamInterface<size_t> {
 protected:
  void SetUp() override {
    lower_ = shared_.path("lower");  // its syncs take no time there
    fs::create_directory(lower_);
    make_pool(16 * mib);
    void* at =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    state_ = new (at) Shared;
    Covered own(pool_, lower_);
    for (const char* name : {"file", "other"})
      ASSERT_EQ(own.create(name, pattern(file_size, 1)), 0);
    ASSERT_EQ(own.drain().code, 0);
  }
  void TearDown() override {
    if (state_ != nullptr) munmap(state_, sizeof(Shared));
  }
  // The files as they are before each drain: both are in the pool and not drained.
  void change(uint32_t round) {
    Covered own(pool_, lower_, true);
    old_file_ = get(lower_ + "/file");
    old_other_ = get(lower_ + "/other");
    before_ = pattern(file_size, round);
    for (const char* name : {"file", "other"}) ASSERT_EQ(own.create(name, before_), 0);
    EXPECT_FALSE((own.stat("file").flags & CAIRN_FILE_LAZY) != 0);
    state_->acted = state_->failed = 0;
  }
  static void evict_all(Covered& own) {
    for (const std::string& name : own.list(".")) {
      const cairn_stat st = own.stat(name);
      cairn_evict(own.pool, st.ino, 0, nullptr);
    }
  }
  // A process that drains and evicts; `arm` says what happens meanwhile. True if it came to its
  // end.
  bool drains_and_evicts(const std::function<void(Covered&)>& arm) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // it must not wait for itself
      Covered own(pool_, lower_, true);
      arm(own);
      own.drain();
      evict_all(own);
      set_lower_hook(nullptr);
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0)
        << status;
    return !WIFSIGNALED(status);
  }
  void act(Covered& own, const Act& one) const {
    if (!one.act(own, before_)) state_->failed = 1;
    state_->acted = 1;
  }
  // Whole files only, old or new ones.
  void expect_nothing_partial(const std::string& expected) {
    for (const char* name : {"file", "other", "moved"}) {
      if (!fs::exists(lower_ + "/" + name)) continue;
      const std::string bytes = get(lower_ + "/" + name);
      const bool is_old = bytes == (name == std::string("other") ? old_other_ : old_file_);
      EXPECT_TRUE(is_old || bytes == before_ || bytes == expected)
          << name << " in lower: " << bytes.size() << " bytes";
    }
  }
  // Through the pool, once more after a drain and an eviction, and in lower.
  void expect_all_there(const Act& act, bool acted) {
    const std::string expected = acted ? act.then(before_) : before_;
    const char* name = acted ? act.file : "file";
    Covered own(pool_, lower_, true);
    for (const bool evicts : {false, true}) {
      if (evicts) {
        ASSERT_EQ(own.drain().code, 0) << cairn_last_error();
        evict_all(own);
        EXPECT_TRUE((own.stat("other").flags & CAIRN_FILE_LAZY) != 0);
      }
      EXPECT_TRUE(own.read("other") == before_) << evicts;
      if (name != nullptr) {
        if (!evicts) ++((own.stat(name).flags & CAIRN_FILE_LAZY) != 0 ? lazy_ : own_);
        EXPECT_TRUE(own.read(name) == expected) << evicts;
      }
    }
    EXPECT_TRUE(get(lower_ + "/other") == before_);
    if (name != nullptr) {
      EXPECT_TRUE(get(lower_ + "/" + name) == expected);
    }
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(lower_))
      if (entry.path().filename() != ".cairn-claim") names.push_back(entry.path().filename());
    EXPECT_EQ(names.size(), name == nullptr ? 1U : 2U);
    // As it was before.
    if (name == nullptr) {
      ASSERT_EQ(own.create("file", before_), 0);
    } else if (name == std::string("moved")) {
      ASSERT_EQ(cairn_rename(own.pool, own.top, "moved", own.top, "file", 0), 0);
    }
    ASSERT_EQ(own.drain().code, 0) << cairn_last_error();
  }

  Shared* state_ = nullptr;
  std::string old_file_;  // in lower, before the drain
  std::string old_other_;
  std::string before_;  // in the pool
  uint64_t lazy_ = 0;   // of what was found afterwards
  uint64_t own_ = 0;
};

// The act happens at the call, and then the process is killed, or goes on.
TEST_P(DrainAndEvict, AtAnyCallToLower) {
  const Act& one = all_acts()[GetParam()];
  SCOPED_TRACE(one.name);
  uint64_t ends = 0;
  for (int last = 1; ends < 2 && !HasFailure(); ++last) {
    ends = 0;
    for (const bool dies : {false, true}) {
      SCOPED_TRACE(std::to_string(last) + (dies ? ", then killed" : ""));
      change(static_cast<uint32_t>(2 * last + (dies ? 1 : 0)));
      const bool ended = drains_and_evicts([&](Covered& own) {
        set_lower_hook([&own, &one, last, dies, calls = 0, this](const LowerCall& call) mutable {
          if (!is_to_lower(call) || ++calls != last) return 0;
          act(own, one);
          if (dies) kill(getpid(), SIGKILL);
          return 0;
        });
      });
      const bool acted = state_->acted != 0;
      EXPECT_EQ(state_->failed, 0) << "what the program's call has seen";
      EXPECT_EQ(ended, !acted || !dies);
      if (!acted) ++ends;
      expect_nothing_partial(acted ? one.then(before_) : before_);
      expect_all_there(one, acted);
      if (HasFailure()) break;
    }
  }
  if (one.file != nullptr) {
    EXPECT_GT(own_, 0U);
    EXPECT_GT(lazy_, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Acts, DrainAndEvict, testing::Range(size_t{0}, all_acts().size()));

class DrainAndEvictOnce : public DrainAndEvict {};

// Each run looks at some of the stores, and several runs at all of them.
TEST_P(DrainAndEvictOnce, KilledAtAnyStore) {
  constexpr uint64_t stride = 17;
  const Act& nothing = all_acts()[0];
  bool ended = false;
  for (uint64_t last = 1 + static_cast<uint64_t>(getpid()) % stride; !ended && !HasFailure();
       last += stride) {
    SCOPED_TRACE(last);
    change(static_cast<uint32_t>(last));
    ended = drains_and_evicts([last](Covered& own) {
      set_store_hook(own.pool, [last](uint64_t number) {
        if (number == last) kill(getpid(), SIGKILL);
      });
    });
    expect_nothing_partial(before_);
    expect_all_there(nothing, false);
  }
  EXPECT_GT(own_, 0U);
  EXPECT_GT(lazy_, 0U);
}

// Each run looks at some of the calls; tests/slow/killed_at_calls_test.sh at all of them. Calls of
// any kind, also those that attach the pool and take its locks.
TEST_P(DrainAndEvictOnce, KilledAtAnySystemCall) {
  const char* given = std::getenv("CAIRN_KILL_STRIDE");
  const uint64_t stride = given != nullptr ? std::strtoull(given, nullptr, 10) : 37;
  const Act& nothing = all_acts()[0];
  AtCalls at;
  for (uint64_t last = 1 + static_cast<uint64_t>(getpid()) % stride; !at.ended && !HasFailure();
       last += stride) {
    SCOPED_TRACE("killed at stop " + std::to_string(last));
    change(static_cast<uint32_t>(last));
    at = kill_at_call(last, [this] {
      Covered own(pool_, lower_, true);
      const bool drained = own.drain().code == 0;
      evict_all(own);
      const bool evicted =
          (own.stat("file").flags & own.stat("other").flags & CAIRN_FILE_LAZY) != 0;
      return drained && evicted ? 0 : 1;
    });
    EXPECT_EQ(at.code, 0);
    EXPECT_EQ(at.ended, at.calls < last);
    expect_nothing_partial(before_);
    expect_all_there(nothing, false);
  }
  EXPECT_GT(at.calls, 100U);
  EXPECT_GT(own_, 0U);
  EXPECT_GT(lazy_, 0U);
}

// What a process leaves that was killed amid the bytes of a write, and its recovery.
void die_while_writing(pool::Pool& pool, uint64_t inode) {
  media::LivenessLock lock;
  auto dead = pool::take_lane(pool, media::Inheritance::own, &lock);
  ASSERT_TRUE(dead.ok()) << last_detail();
  format::Seat& words = pool.lanes[*dead].seat[0];
  pool.store(words.epoch, pool.state->epoch.load());
  pool.store(words.writing, inode);
  lock.release();
  pool::recover_if_dead(pool, *dead);
  EXPECT_EQ(words.writing.load(), 0U) << "it was not recovered";
}

// While the drain waits for its copy to be durable, a writer dies. The file may have other bytes
// without another time: it must not count as drained.
TEST_P(DrainAndEvictOnce, AWriterDiesWhileItsFileIsCopied) {
  for (const uint32_t round : {1, 2}) {  // the second finds what the first one left
    SCOPED_TRACE(round);
    change(round);
    const bool ended = drains_and_evicts([this](Covered& own) {
      const uint64_t inode = own.stat("file").ino;
      set_lower_hook([&own, inode, this](const LowerCall& call) {
        if (state_->acted != 0 || call.number != SYS_fsync ||
            !names(call.arguments[0], ".cairn-drain-"))
          return 0;
        state_->acted = 1;
        die_while_writing(capi::fs_of(own.pool).pool, inode);
        return 0;
      });
    });
    EXPECT_TRUE(ended);
    EXPECT_EQ(state_->acted, 1);
    Covered own(pool_, lower_, true);
    EXPECT_EQ(own.stat("file").flags & CAIRN_FILE_LAZY, 0U) << "its bytes were dropped";
    EXPECT_NE(own.stat("other").flags & CAIRN_FILE_LAZY, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Once, DrainAndEvictOnce, testing::Values(size_t{0}));

// --- the other way round: a whole drain and an eviction before any store of a call ---

struct Call {
  const char* name;
  void (*make)(cairn_file* file);
  std::string (*then)(std::string bytes);
};

const std::vector<Call>& all_calls() {
  static const std::vector<Call> calls = {
      {"zero",
       [](cairn_file* file) {
         EXPECT_EQ(cairn_fallocate(file, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 5000, 100), 0);
       },
       [](std::string bytes) { return bytes.replace(5000, 100, 100, '\0'); }},
      {"allocate beyond the end",
       [](cairn_file* file) { EXPECT_EQ(cairn_fallocate(file, 0, file_size - 100, 10'100), 0); },
       [](std::string bytes) { return bytes + std::string(10'000, '\0'); }},
      {"zero beyond the end",
       [](cairn_file* file) {
         EXPECT_EQ(cairn_fallocate(file, FALLOC_FL_ZERO_RANGE, file_size - 100, 10'100), 0);
       },
       [](std::string bytes) { return bytes.replace(file_size - 100, 100, 10'100, '\0'); }},
      {"punch",
       [](cairn_file* file) {
         EXPECT_EQ(cairn_fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 5000, 30'000),
                   0);
       },
       [](std::string bytes) { return bytes.replace(5000, 30'000, 30'000, '\0'); }},
      {"write", [](cairn_file* file) { EXPECT_EQ(cairn_pwrite(file, "NEW", 3, 5000), 3); },
       [](std::string bytes) { return bytes.replace(5000, 3, "NEW"); }},
      {"extend", [](cairn_file* file) { EXPECT_EQ(cairn_pwrite(file, "NEW", 3, file_size), 3); },
       [](std::string bytes) { return bytes + "NEW"; }},
      {"append",
       [](cairn_file* file) {
         const iovec vector = {const_cast<char*>("END"), 3};
         EXPECT_EQ(cairn_appendv(file, &vector, 1), 3);
       },
       [](std::string bytes) { return bytes + "END"; }},
      {"cut", [](cairn_file* file) { EXPECT_EQ(cairn_ftruncate(file, 50'001), 0); },
       [](std::string bytes) { return bytes.substr(0, 50'001); }},
      {"grow", [](cairn_file* file) { EXPECT_EQ(cairn_ftruncate(file, file_size + 5), 0); },
       [](std::string bytes) { return bytes + std::string(5, '\0'); }},
  };
  return calls;
}

class DrainedMeanwhile : public EvictTest, public testing::WithParamInterface<size_t> {
 protected:
  void SetUp() override {
    lower_ = shared_.path("lower");
    fs::create_directory(lower_);
    start(32 * mib);
  }
  // Returns false if the keeper waits for the call: a drain and an eviction take about 3 ms.
  bool drain_and_evict() {
    std::atomic<bool> over{false};
    std::thread keeper([&] {
      covered->drain();
      if (evict("file") == 0) ++evicted_;
      over = true;
    });
    for (int i = 0; i < 500 && !over; ++i) usleep(100);
    const bool in_time = over;
    if (in_time)
      keeper.join();
    else
      late_.push_back(std::move(keeper));
    return in_time;
  }
  std::atomic<uint64_t> evicted_{0};
  std::vector<std::thread> late_;
};

TEST_P(DrainedMeanwhile, TheCallChangesTheWholeFile) {
  const Call& call = all_calls()[GetParam()];
  SCOPED_TRACE(call.name);
  const auto caller = std::this_thread::get_id();
  uint64_t at = 0;
  uint64_t seen = 0;
  bool inside = false;
  set_store_hook(covered->pool, [&](uint64_t) {
    if (std::this_thread::get_id() != caller || !inside || ++seen != at) return;
    drain_and_evict();
  });
  for (at = 1; at == 1 || seen >= at - 1; ++at) {
    SCOPED_TRACE("before store " + std::to_string(at));
    const std::string bytes = pattern(file_size, static_cast<uint32_t>(at));
    make_drained("file", bytes);
    cairn_file* file = open("file", O_RDWR);
    seen = 0;
    inside = true;
    call.make(file);
    inside = false;
    for (std::thread& thread : late_) thread.join();
    late_.clear();
    EXPECT_TRUE(covered->read("file") == call.then(bytes));
    cairn_close(file);
    ASSERT_EQ(covered->drain().code, 0);
    EXPECT_TRUE(get(lower_ + "/file") == call.then(bytes));
    evict("file");
    EXPECT_TRUE(covered->read("file") == call.then(bytes));
    ASSERT_EQ(cairn_unlink(covered->pool, covered->top, "file"), 0);
    if (HasFailure()) break;
  }
  set_store_hook(covered->pool, [](uint64_t) {});
  EXPECT_GT(evicted_, 0U);
}

INSTANTIATE_TEST_SUITE_P(Calls, DrainedMeanwhile, testing::Range(size_t{0}, all_calls().size()));

}  // namespace
}  // namespace cairn::test
