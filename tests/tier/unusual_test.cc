// Times before 1970, names that look like ours, and trees deeper than a path is long.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

class Unusual : public CoverTest {
 protected:
  void SetUp() override { make_pool(); }
};

TEST_F(Unusual, TimesBefore1970) {
  const timespec old[2] = {{-86400, 250'000'000}, {-86400, 250'000'000}};
  fs::create_directory(lower_ + "/dir");
  put(lower_ + "/dir/there", "t");
  ASSERT_EQ(utimensat(AT_FDCWD, (lower_ + "/dir/there").c_str(), old, 0), 0);
  Covered covered(pool_, lower_);
  EXPECT_EQ(covered.stat("dir/there").mtime_ns, -86399'750'000'000);
  ASSERT_EQ(covered.create("new", "n"), 0);
  ASSERT_EQ(cairn_utimens(covered.pool, covered.stat("new").ino, -1, -1'500'000'000), 0);
  ASSERT_EQ(cairn_chmod(covered.pool, covered.stat("dir/there").ino, 0600), 0);
  expect_drained(covered);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/new").c_str(), &st), 0);
  EXPECT_EQ(st.st_mtim.tv_sec, -2);
  EXPECT_EQ(st.st_mtim.tv_nsec, 500'000'000);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "dir/there"), 0);
  ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, "dir"), 0);
  expect_drained(covered);
}

TEST_F(Unusual, NamesThatBeginLikeOurs) {
  put(lower_ + "/.cairn-claim-notes", "notes");
  Covered covered(pool_, lower_);
  EXPECT_EQ(covered.read(".cairn-claim-notes"), "notes");
  ASSERT_EQ(covered.create(".cairn-drain-x", "x"), 0);
  ASSERT_EQ(covered.create(".cairn-claim-of-mine", "y"), 0);
  expect_drained(covered);
}

// What cannot be reached there is told, and stays in the pool.
TEST_F(Unusual, DeepTrees) {
  constexpr rlim_t wanted = 8192;  // one descriptor a level, here and there
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, wanted));
  if (limit.rlim_cur < wanted || setrlimit(RLIMIT_NOFILE, &limit) != 0)
    GTEST_SKIP() << "too few open files";
  lower_ = shared_.path("deep");  // in memory: each level is synced
  fs::create_directory(lower_);
  for (const int levels : {1500, 2500}) {
    SCOPED_TRACE(levels);
    Covered covered(pool_, lower_);
    cairn_ino at = covered.top;
    std::vector<cairn_ino> way = {at};
    for (int i = 0; i < levels; ++i) {
      ASSERT_EQ(cairn_mkdir(covered.pool, at, "d", 0755), 0) << cairn_last_error();
      cairn_stat st = {};
      ASSERT_EQ(cairn_lookup(covered.pool, at, "d", CAIRN_NOFOLLOW, &st), 0);
      at = st.ino;
      way.push_back(at);
    }
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(covered.pool, at, "f", O_WRONLY | O_CREAT, 0644, &file), 0);
    ASSERT_EQ(cairn_write(file, "deep", 4), 4);
    cairn_close(file);
    const Drained drained = covered.drain();
    EXPECT_EQ(drained.code == 0, levels == 1500) << drained.code;
    EXPECT_EQ(drained.code == 0, drained.problems.empty());
    cairn_stat st = {};
    EXPECT_EQ(cairn_lookup(covered.pool, at, "f", CAIRN_NOFOLLOW, &st), 0);
    ASSERT_EQ(cairn_unlink(covered.pool, at, "f"), 0);
    for (size_t i = way.size() - 1; i-- > 0;)
      ASSERT_EQ(cairn_rmdir(covered.pool, way[i], "d"), 0) << cairn_last_error();
    const Drained removed = covered.drain();
    EXPECT_EQ(removed.code, 0);
    for (const std::string& problem : removed.problems) ADD_FAILURE() << problem.substr(0, 300);
    EXPECT_FALSE(fs::exists(lower_ + "/d"));
  }
}

}  // namespace
}  // namespace cairn::test
