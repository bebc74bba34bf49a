// A name in lower that a drain has given to another file. Neither the file that had it before, and
// gets it back in the pool, nor one that takes it over there, counts as drained by that.
#include <unistd.h>

#include <functional>
#include <memory>

#include "cairn/tier.h"
#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

class FormerHomeTest : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    fs::create_directory(lower_);
    covered = std::make_unique<Covered>(pool_, lower_);
  }
  void make_directory(const std::string& path) {
    ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, path.c_str(), 0755), 0);
  }
  void create(const std::string& path, const std::string& text) {
    ASSERT_EQ(covered->create(path, text), 0) << cairn_last_error();
  }
  void move(const std::string& from, const std::string& to, unsigned flags = 0) {
    ASSERT_EQ(
        cairn_rename(covered->pool, covered->top, from.c_str(), covered->top, to.c_str(), flags), 0)
        << cairn_last_error();
  }
  void link(const std::string& from, const std::string& to) {
    ASSERT_EQ(cairn_link(covered->pool, covered->top, from.c_str(), covered->top, to.c_str(), 0), 0)
        << cairn_last_error();
  }
  void unlink(const std::string& path) {
    ASSERT_EQ(cairn_unlink(covered->pool, covered->top, path.c_str()), 0) << cairn_last_error();
  }
  void remove_directory(const std::string& path) {
    ASSERT_EQ(cairn_rmdir(covered->pool, covered->top, path.c_str()), 0) << cairn_last_error();
  }
  void drain() { ASSERT_EQ(covered->drain().code, 0) << cairn_last_error(); }
  // Drains one file, and nothing else.
  void drain_one(const std::string& path) {
    ASSERT_EQ(cairn_tier_drain(covered->cover, path.c_str()), 0) << cairn_last_error();
  }
  // A drain while programs run calls `change` each time it reports its progress, until that
  // returns true.
  void drain_with(const std::function<bool(uint64_t done)>& change) {
    cairn_while_running what{};
    what.struct_size = sizeof what;
    struct Context {
      const std::function<bool(uint64_t)>& change;
      bool is_done = false;
    } context{change};
    const auto progress = [](void* given, uint64_t done, uint64_t /*total*/) {
      auto& at = *static_cast<Context*>(given);
      if (!at.is_done) at.is_done = at.change(done);
      return 0;
    };
    const auto problem = [](void*, const char* text) { ADD_FAILURE() << text; };
    EXPECT_EQ(cairn_cover_drain_while_running(covered->cover, &what, progress, problem, &context,
                                              nullptr),
              0)
        << cairn_last_error();
    EXPECT_TRUE(context.is_done) << "nothing was changed";
  }
  std::unique_ptr<Covered> covered;
  static constexpr unsigned exchange = 2;  // RENAME_EXCHANGE
  const std::string copied = std::string(1 << 20, 'c');
};

// Its files counted as drained, and no drain wrote them.
TEST_F(FormerHomeTest, ADirectoryComesBackToANameThatLowerHasOfAnother) {
  make_directory("a");
  create("a/old", "old bytes");
  drain();
  move("a", "b");
  make_directory("a");
  create("a/new", "new bytes");
  drain_one("a/new");
  move("a", "c");
  move("b", "a");
  expect_drained(*covered);
  EXPECT_EQ(get(lower_ + "/a/old"), "old bytes");
  EXPECT_FALSE(fs::exists(lower_ + "/a/new"));
  EXPECT_EQ(get(lower_ + "/c/new"), "new bytes");
}

TEST_F(FormerHomeTest, ADirectoryComesBackByAnExchange) {
  for (const char* name : {"a", "b"}) {
    make_directory(name);
    create(std::string(name) + "/of_" + name, "bytes");
  }
  drain();
  move("a", "b", exchange);
  create("a/new", "new bytes");
  drain_one("a/new");
  move("a", "b", exchange);
  expect_drained(*covered);
  EXPECT_TRUE(fs::exists(lower_ + "/a/of_a"));
  EXPECT_TRUE(fs::exists(lower_ + "/b/new"));
}

// The number of the directory that it was in has become another one's.
TEST_F(FormerHomeTest, ADirectoryComesToANameInADirectoryOfTheSameNumber) {
  make_directory("p");
  make_directory("p/a");
  create("p/a/old", "old bytes");
  drain();
  move("p/a", "a");
  const cairn_ino number = covered->stat("p").ino;
  remove_directory("p");
  make_directory("q");
  ASSERT_EQ(covered->stat("q").ino, number);
  make_directory("q/d");
  create("q/d/new", "new bytes");
  drain_one("q/d/new");
  move("q/d", "d");
  move("a", "q/d");
  expect_drained(*covered);
  EXPECT_EQ(get(lower_ + "/q/d/old"), "old bytes");
}

// It comes back to what lower still has of it.
TEST_F(FormerHomeTest, ADirectoryComesBackBeforeADrain) {
  make_directory("a");
  create("a/old", "old bytes");
  drain();
  move("a", "b");
  move("b", "a");
  expect_drained(*covered);
  EXPECT_EQ(get(lower_ + "/a/old"), "old bytes");
}

// A file with the mode `never` is drained if lower has its bytes under another name.
TEST_F(FormerHomeTest, AFileThatIsNotDrainedAnyMoreComesBack) {
  create("a", "old bytes");
  drain();
  ASSERT_EQ(cairn_tier_set_mode(covered->cover, "a", CAIRN_DRAIN_NEVER), 0) << cairn_last_error();
  move("a", "b");
  create("a", "new bytes");
  drain_one("a");
  move("a", "c");
  move("b", "a");
  drain();
  EXPECT_EQ(get(lower_ + "/a"), "old bytes");
  EXPECT_EQ(get(lower_ + "/c"), "new bytes");
}

// One of its names moves over another file, in a directory where the drain has been, before the
// drain writes it under the other name. All names counted as drained then.
TEST_F(FormerHomeTest, ANameOfAFileWithSeveralReplacesAFileMeanwhile) {
  create("x", "another file");
  make_directory("y");
  create("y/f", "old bytes");
  link("y/f", "y/g");
  make_directory("z");
  drain();
  ASSERT_EQ(covered->write("y/f", "NEW"), 0);
  create("z/big", copied);
  drain_with([&](uint64_t done) {
    if (done == 0) return false;
    move("y/g", "x");
    return true;
  });
  expect_drained(*covered);
  EXPECT_EQ(get(lower_ + "/x"), "NEW bytes");
  EXPECT_TRUE(fs::equivalent(lower_ + "/x", lower_ + "/y/f"));
}

// Another file gets the name of one that the drain has listed and not written yet, and is written
// first. It was taken for somebody else's.
TEST_F(FormerHomeTest, AListedNameIsAnotherFilesByTheTimeItIsWritten) {
  create("n", "small, so it is written with others");
  create("big", copied);
  drain_with([&](uint64_t done) {
    if (done == 0) return false;
    unlink("n");
    create("m", "takes the slot of the first");
    create("n", copied);
    return true;
  });
  expect_drained(*covered);
}

TEST_F(FormerHomeTest, AListedNameIsADirectoryByTheTimeItIsWritten) {
  create("n", "small, so it is written with others");
  create("big", copied);
  drain_with([&](uint64_t done) {
    if (done == 0) return false;
    move("n", "m");
    create("k", "takes the slot of the first");
    make_directory("n");
    create("n/f", "bytes");
    return true;
  });
  expect_drained(*covered);
}

// The end of the drain finds a directory by its number under a name of lower's that is a file, and
// noted the directory's new times there.
TEST_F(FormerHomeTest, ADirectoryTakesTheNameOfAFileAtTheEndOfADrain) {
  create("file", "bytes");
  make_directory("a");
  make_directory("a/b");
  create("a/b/gone", "bytes");
  drain();
  unlink("a/b/gone");
  drain_with([&](uint64_t) {
    if (fs::exists(lower_ + "/a/b/gone")) return false;
    unlink("file");
    move("a", "file");
    return true;
  });
  expect_drained(*covered);
  EXPECT_TRUE(fs::is_directory(lower_ + "/file/b"));
}

// A directory moves after a drain has removed names below it, and before it has noted their times.
// What the drain has changed there was taken for somebody else's change.
TEST_F(FormerHomeTest, ADirectoryMovesAtTheEndOfADrain) {
  make_directory("a");
  make_directory("d");
  for (const char* name : {"a/b", "a/c"}) {
    make_directory(name);
    for (const char* file : {"/f", "/g"}) create(std::string(name) + file, "bytes");
  }
  drain();
  for (const char* name : {"a/b", "a/c"})
    for (const char* file : {"/f", "/g"}) unlink(std::string(name) + file);
  drain_with([&](uint64_t) {
    int left = 0;
    for (const auto& entry : fs::recursive_directory_iterator(lower_ + "/a"))
      left += entry.is_regular_file() ? 1 : 0;
    // The next removal gets a later time than those in the first of the two directories.
    usleep(20'000);
    if (left != 0) return false;
    move("a", "d/a");
    return true;
  });
  expect_drained(*covered);
  EXPECT_FALSE(fs::exists(lower_ + "/a"));
}

// A directory is removed at that time, with the one above it, whose name a file gets.
TEST_F(FormerHomeTest, ADirectoryIsRemovedAtTheEndOfADrain) {
  make_directory("a");
  make_directory("a/b");
  create("a/b/f", "bytes");
  drain();
  unlink("a/b/f");
  drain_with([&](uint64_t) {
    if (fs::exists(lower_ + "/a/b/f")) return false;
    remove_directory("a/b");
    make_directory("c");  // may get its inode
    remove_directory("a");
    create("a", "a file");
    usleep(20'000);
    return true;
  });
  expect_drained(*covered);
  EXPECT_EQ(get(lower_ + "/a"), "a file");
}

// A file in a removed directory loses one of its two names in the tick of the clock in which the
// drain began. The other name was taken for changed.
TEST_F(FormerHomeTest, ADirectoryWithTwoNamesOfAFileIsRemoved) {
  const std::string lower = shared_.path("lower");  // in memory, so that a drain takes no tick
  fs::create_directory(lower);
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back("a" + std::to_string(i));
  for (const std::string& name : names) {
    fs::create_directory(lower + "/" + name);
    put(lower + "/" + name + "/f", "bytes");
    fs::create_hard_link(lower + "/" + name + "/f", lower + "/" + name + "/g");
  }
  covered = std::make_unique<Covered>(pool_, lower);
  for (const std::string& name : names) {
    unlink(name + "/f");
    unlink(name + "/g");
    remove_directory(name);
    usleep(20'000);
    ASSERT_EQ(covered->drain().problems, std::vector<std::string>());
    ASSERT_FALSE(fs::exists(lower + "/" + name));
  }
}

}  // namespace
}  // namespace cairn::test
