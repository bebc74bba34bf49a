// Deep trees in lower, removed by threads with small stacks, as programs have them.
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capi/core/handles.h"
#include "tier/claim/kept_directory.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover_fixture.h"
#include "tier/system/same_directory.h"

namespace cairn::test {
namespace {

constexpr int levels = 900;  // each takes a descriptor

class DeepTrees : public CoverTest {
 protected:
  DeepTrees() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit more = before_;
    more.rlim_cur = std::min<rlim_t>(more.rlim_max, 4096);
    setrlimit(RLIMIT_NOFILE, &more);
    fs::create_directories(lower_);
    make_pool();
  }
  ~DeepTrees() override { setrlimit(RLIMIT_NOFILE, &before_); }

  void SetUp() override {
    rlimit now = {};
    getrlimit(RLIMIT_NOFILE, &now);
    if (now.rlim_cur < levels + 200) GTEST_SKIP() << "too few descriptors";
  }
  // Directories "d" in each other.
  static void make_deep(const std::string& top) {
    int at = open(top.c_str(), O_PATH | O_DIRECTORY);
    for (int i = 0; i < levels; ++i) {
      ASSERT_EQ(mkdirat(at, "d", 0755), 0);
      const int next = openat(at, "d", O_PATH | O_DIRECTORY);
      close(at);
      at = next;
    }
    close(at);
  }
  static Drained drain_on_small_stack(Covered& covered) {
    struct Work {
      Covered& covered;
      Drained drained = {};
    } work{covered};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    constexpr size_t stack = 128 << 10;
    pthread_attr_setstacksize(&attributes, stack);
    pthread_t thread = {};
    const auto run = [](void* given) -> void* {
      auto* here = static_cast<Work*>(given);
      here->drained = here->covered.drain();
      return nullptr;
    };
    EXPECT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    return work.drained;
  }

 private:
  rlimit before_ = {};
};

TEST_F(DeepTrees, OneThatWasRemovedInThePool) {
  make_deep(lower_);
  Covered covered(pool_, lower_);
  std::string path = "d";
  for (int i = 1; i < levels; ++i) path += "/d";
  for (; !path.empty(); path.resize(path.size() < 2 ? 0 : path.size() - 2))
    ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, path.c_str()), 0) << cairn_last_error();
  const Drained drained = drain_on_small_stack(covered);
  EXPECT_EQ(drained.code, 0) << testing::PrintToString(drained.problems);
  EXPECT_FALSE(fs::exists(lower_ + "/d"));
}

TEST_F(DeepTrees, OneThatWasReplaced) {
  Covered covered(pool_, lower_);
  {
    const tier::sys::Descriptor directory(open(lower_.c_str(), O_RDONLY | O_DIRECTORY));
    tier::sys::Descriptor kept;
    ASSERT_EQ(tier::make_kept_directory(capi::fs_of(covered.pool), directory.get(), tier::no_owner,
                                        &kept),
              0);
    make_deep("/proc/self/fd/" + std::to_string(kept.get()));
  }
  const Drained drained = drain_on_small_stack(covered);
  EXPECT_EQ(drained.code, 0) << testing::PrintToString(drained.problems);
  for (const auto& entry : fs::directory_iterator(lower_))
    EXPECT_NE(entry.path().filename().string().rfind(".cairn-drain-", 0), 0U);
}

}  // namespace
}  // namespace cairn::test
