// A pool whose directories lie: what a drain creates, removes and gives away stays below the
// covered directory, all that is sound comes there, and every walk ends.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "capi/core/handles.h"
#include "damage/forge.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover_fixture.h"
#include "tier/record/journal.h"
#include "tier/record/record.h"

namespace cairn::test {
namespace {

using std::string_literals::operator""s;

class UnsoundNames : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    fs::create_directory(lower_);
    put(outside_, "not ours");
    chmod(outside_.c_str(), 0640);
    lstat(outside_.c_str(), &before_);
  }
  void TearDown() override {
    // Nobody has touched it.
    EXPECT_EQ(get(outside_), "not ours");
    struct stat st = {};
    ASSERT_EQ(lstat(outside_.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode, before_.st_mode);
    EXPECT_EQ(st.st_ino, before_.st_ino);
    EXPECT_EQ(st.st_uid, before_.st_uid);
    EXPECT_EQ(st.st_mtim.tv_nsec, before_.st_mtim.tv_nsec);
    EXPECT_FALSE(fs::exists(disk_.path("new")));
  }
  static int discard(Covered& covered) {
    const int result = covered.discard();
    EXPECT_EQ(result, 0) << cairn_last_error();
    return result;
  }
  // A problem holds all these words.
  static bool tells(const Drained& drained, const std::vector<std::string>& words) {
    for (const std::string& text : drained.problems) {
      bool all = true;
      for (const std::string& word : words) all &= text.find(word) != std::string::npos;
      if (all) return true;
    }
    return false;
  }
  // Undrained files, from what `cairn status` asks.
  static uint64_t undrained(const Covered& covered) {
    uint64_t files = 0;
    const auto visit = [](void* to, const cairn_cover_info* info) {
      *static_cast<uint64_t*>(to) = info->undrained_files + (info->all_drained != 0 ? 1000 : 0);
    };
    EXPECT_EQ(cairn_cover_list(covered.pool, visit, &files), 0) << cairn_last_error();
    EXPECT_EQ(cairn_cover_undrained(
                  covered.pool, cairn_cover_path(covered.cover),
                  [](void*, const char*, uint64_t, int) { return 0; }, nullptr),
              0)
        << cairn_last_error();
    return files;
  }
  // After a cover has been discarded, the pool holds nothing that nothing leads to.
  void expect_sound_pool() const {
    std::string all;
    EXPECT_EQ(cairn_pool_check(
                  pool_.c_str(),
                  [](void* to, const char* text) {
                    *static_cast<std::string*>(to) += text + "\n"s;
                  },
                  &all),
              0);
    EXPECT_EQ(all, "");
  }

  std::string outside_ = disk_.path("x");
  struct stat before_ = {};
};

TEST_F(UnsoundNames, ADrainCarriesTheSoundNamesOnly) {
  for (const std::string& bad :
       {"../x"s, "../new"s, ".."s, "."s, "/tmp/cairn-unsound"s, "\0x"s, "sub/../../x"s, ""s}) {
    SCOPED_TRACE(bad);
    {
      Covered covered(pool_, lower_);
      ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "sub", 0755), 0);
      for (const char* name : {"a", "long enough a name", "z", "sub/b"})
        ASSERT_EQ(covered.create(name, "mine", 0666), 0);
      Forge(covered.pool).name(covered.top, "long enough a name", bad);
      EXPECT_GE(undrained(covered), 4U);
      EXPECT_LT(undrained(covered), 1000U);
      const Drained drained = covered.drain();
      EXPECT_EQ(drained.code, -EIO);
      EXPECT_EQ(drained.report.failed, 1U);
      EXPECT_TRUE(tells(drained, {lower_, "slot ", "is not a valid file name"}))
          << testing::PrintToString(drained.problems);
      EXPECT_EQ(get(lower_ + "/a") + get(lower_ + "/z") + get(lower_ + "/sub/b"), "mineminemine");
      // A new directory is not taken for drained as long as something fails.
      EXPECT_EQ(undrained(covered), 1U);
      EXPECT_EQ(cairn_cover_end(covered.cover), -EAGAIN);
      discard(covered);
    }
    expect_sound_pool();
    EXPECT_FALSE(fs::exists("/tmp/cairn-unsound"));
    fs::remove_all(lower_);
    fs::create_directory(lower_);
  }
}

TEST_F(UnsoundNames, ADirectoryWithSuchAName) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "directory", 0777), 0);
  ASSERT_EQ(covered.create("directory/in", "mine"), 0);
  Forge(covered.pool).name(covered.top, "directory", "../new");
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_EQ(drained.report.failed, 1U);
  discard(covered);
  cairn_pool_detach(std::exchange(covered.pool, nullptr));
  expect_sound_pool();
}

// The identity is right: it is another name of that file.
TEST_F(UnsoundNames, ARemovedName) {
  put(lower_ + "/removed", "theirs");
  fs::remove(outside_);
  fs::create_hard_link(lower_ + "/removed", outside_);
  put(lower_ + "/removed", "not ours");
  lstat(outside_.c_str(), &before_);
  Covered covered(pool_, lower_);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "removed"), 0);
  Forge(covered.pool).name(covered.top, "removed", "../x");
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, {"removed name", "../x"})) << testing::PrintToString(drained.problems);
  EXPECT_EQ(drained.report.removed, 0U);
  discard(covered);
}

TEST_F(UnsoundNames, ADirectoryBelowItself) {
  {
    Covered covered(pool_, lower_);
    for (const char* name : {"a", "a/b", "a/b/c"})
      ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, name, 0755), 0);
    ASSERT_EQ(covered.create("a/b/file", "mine"), 0);
    ASSERT_EQ(covered.create("z", "mine"), 0);
    const cairn_ino a = covered.stat("a").ino;
    const cairn_ino b = covered.stat("a/b").ino;
    Forge(covered.pool).inode(b, "c", a);
    EXPECT_GE(undrained(covered), 2U);
    const Drained drained = covered.drain();
    EXPECT_EQ(drained.code, -EIO);
    EXPECT_EQ(drained.report.failed, 1U);
    EXPECT_TRUE(tells(drained, {lower_ + "/a/b/c", "slot", "whose parent"}))
        << testing::PrintToString(drained.problems);
    EXPECT_EQ(get(lower_ + "/a/b/file") + get(lower_ + "/z"), "minemine");
    EXPECT_FALSE(fs::exists(lower_ + "/a/b/c"));
    discard(covered);
  }
}

// The way leads back to where every walk begins.
TEST_F(UnsoundNames, ATopBelowItself) {
  Covered covered(pool_, lower_);
  for (const char* name : {"a", "a/b"})
    ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, name, 0755), 0);
  ASSERT_EQ(covered.create("a/file", "mine"), 0);
  const cairn_ino a = covered.stat("a").ino;
  Forge(covered.pool).inode(a, "b", covered.top);
  EXPECT_GE(undrained(covered), 1U);
  Drained drained = covered.drain();
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_EQ(get(lower_ + "/a/file"), "mine");
  // It says so itself.
  Forge(covered.pool).parent(covered.top, a);
  undrained(covered);
  EXPECT_NE(covered.drain().code, 0);
  discard(covered);
}

// Each directory has two names in the one above: a walk that does not notice takes 2^40 steps.
TEST_F(UnsoundNames, ManyDirectoriesWithTwoNames) {
  const auto start = std::chrono::steady_clock::now();
  {
    Covered covered(pool_, lower_);
    cairn_ino at = covered.top;
    for (int i = 0; i < 40; ++i) {
      cairn_stat one = {};
      ASSERT_EQ(cairn_mkdir(covered.pool, at, "one", 0755), 0);
      ASSERT_EQ(cairn_mkdir(covered.pool, at, "two", 0755), 0);
      ASSERT_EQ(cairn_lookup(covered.pool, at, "one", 0, &one), 0);
      Forge(covered.pool).inode(at, "two", one.ino);
      at = one.ino;
    }
    EXPECT_GE(undrained(covered), 40U);
    const Drained drained = covered.drain();
    EXPECT_EQ(drained.code, -EIO);
    EXPECT_TRUE(tells(drained, {"which has another name there"}));
    discard(covered);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(UnsoundNames, AFileThatIsCalledADirectory) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.create("file", "mine"), 0);
  Forge(covered.pool).type(covered.top, "file", S_IFDIR >> 12);
  const Drained drained = covered.drain();
  EXPECT_EQ(get(lower_ + "/file"), "mine") << drained.code;
  discard(covered);
}

TEST_F(UnsoundNames, ALinkWithAZeroByte) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(cairn_symlink(covered.pool, "target", covered.top, "link"), 0);
  Forge(covered.pool).link_text(covered.stat("link").ino, "../x\0y"s);
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_FALSE(fs::exists(fs::symlink_status(lower_ + "/link")));
  discard(covered);
}

// A drain that was killed has left something aside: its journal says what, and where.
TEST_F(UnsoundNames, AJournalThatNamesAPath) {
  fs::create_directory(lower_ + "/.cairn-drain-d");
  for (const std::string& aside : {".cairn-drain-d/../../x"s, ".."s}) {
    SCOPED_TRACE(aside);
    Covered covered(pool_, lower_);
    ASSERT_EQ(covered.create("f", "mine"), 0);
    {
      const WriteWindow window;
      auto& files = capi::fs_of(covered.pool);
      tier::Journal journal;
      ASSERT_TRUE(
          journal.open(files, *tier::find_covers(files, false), tier::cover_name(lower_)).ok());
      ASSERT_TRUE(journal.write({lower_, aside, "", 0, 0, 0, 0, 0, {}}).ok());
    }
    const Drained drained = covered.drain();
    EXPECT_EQ(drained.code, 0) << cairn_last_error();
    EXPECT_TRUE(tells(drained, {"journal", aside, "the drain ignores it"}))
        << testing::PrintToString(drained.problems);
    EXPECT_TRUE(covered.drain().problems.empty());
    EXPECT_EQ(get(lower_ + "/f"), "mine");
    discard(covered);
  }
}

TEST_F(UnsoundNames, ADiscardDoesNotBelieveTheJournalEither) {
  fs::create_directory(lower_ + "/.cairn-drain-d");
  Covered covered(pool_, lower_);
  {
    const WriteWindow window;
    auto& files = capi::fs_of(covered.pool);
    tier::Journal journal;
    ASSERT_TRUE(
        journal.open(files, *tier::find_covers(files, false), tier::cover_name(lower_)).ok());
    ASSERT_TRUE(journal.write({lower_, ".cairn-drain-d/../../x", "", 0, 0, 0, 0, 0, {}}).ok());
  }
  discard(covered);
}

TEST_F(UnsoundNames, ARecordOfAPathThatLeadsUp) {
  Covered covered(pool_, lower_);
  const std::string path = lower_ + "/../x";
  const std::string name = tier::cover_name(path);
  const WriteWindow window;
  auto& files = capi::fs_of(covered.pool);
  const uint64_t covers = *tier::find_covers(files, false);
  tier::CoverRecord record;
  record.path = path;
  ASSERT_TRUE(tier::write_record(files, covers, name, record).ok());
  EXPECT_EQ(tier::read_record(files, covers, name).code(), EIO);
  ASSERT_TRUE(tier::remove_record(files, covers, name).ok());
}

// Not even a drain that has 20000 directories below each other to go through needs a stack for it.
TEST_F(UnsoundNames, ADeepPool) {
  fs::remove_all(pool_);
  make_pool(512 << 20);
  lower_ = shared_.path("lower");  // in memory: each level is synced
  fs::create_directory(lower_);
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.create("a", "mine"), 0);
  constexpr const char* name = "sixteen letters_";  // few levels have a path that lower can have
  cairn_ino at = covered.top;
  for (int i = 0; i < 20'000; ++i) {
    cairn_stat st = {};
    ASSERT_EQ(cairn_mkdir(covered.pool, at, name, 0755), 0) << cairn_last_error();
    ASSERT_EQ(cairn_lookup(covered.pool, at, name, 0, &st), 0);
    at = st.ino;
  }
  undrained(covered);
  EXPECT_NE(covered.drain().code, 0);
  EXPECT_EQ(get(lower_ + "/a"), "mine");
  discard(covered);
}

}  // namespace
}  // namespace cairn::test
