// Names that change while a drain is at work, in directories where its walks have been already:
// lower has a file under its old name or its new one at all times.
#include <functional>
#include <memory>

#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

class MovedMeanwhileTest : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    put_some_files();
    covered = std::make_unique<Covered>(pool_, lower_);
  }
  void make_directory(const std::string& path) {
    ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, path.c_str(), 0755), 0);
  }
  void move(const std::string& from, const std::string& to, unsigned flags = 0) {
    ASSERT_EQ(
        cairn_rename(covered->pool, covered->top, from.c_str(), covered->top, to.c_str(), flags), 0)
        << cairn_last_error();
  }
  void unlink(const std::string& path) {
    ASSERT_EQ(cairn_unlink(covered->pool, covered->top, path.c_str()), 0) << cairn_last_error();
  }
  void create(const std::string& path, const std::string& text) {
    ASSERT_EQ(covered->create(path, text), 0) << cairn_last_error();
  }
  // A drain while programs run calls `change` once it has copied some bytes, and ends well.
  void drain_with(const std::function<void()>& change) {
    cairn_while_running what{};
    what.struct_size = sizeof what;
    auto once = change;
    const auto progress = [](void* context, uint64_t done, uint64_t /*total*/) {
      auto& left = *static_cast<std::function<void()>*>(context);
      if (done == 0 || !left) return 0;
      const std::function<void()> now = std::move(left);
      left = nullptr;
      now();
      return 0;
    };
    ASSERT_EQ(
        cairn_cover_drain_while_running(covered->cover, &what, progress, nullptr, &once, nullptr),
        0)
        << cairn_last_error();
    EXPECT_FALSE(once) << "nothing was copied";
  }
  // Drains with nothing changing, before the test begins.
  void drain() { ASSERT_EQ(covered->drain().code, 0) << cairn_last_error(); }
  // A file of these bytes lies in lower, under any name.
  bool has_bytes(const std::string& bytes) {
    for (const auto& entry : fs::recursive_directory_iterator(lower_))
      if (entry.is_regular_file() && get(entry.path()) == bytes) return true;
    return false;
  }
  // What the next drain makes of it: the pool's names and no others.
  void expect_all_names() {
    expect_drained(*covered);
    for (const auto& entry : fs::directory_iterator(lower_))
      EXPECT_NE(entry.path().filename().string().rfind(".cairn-drain-", 0), 0U) << entry.path();
  }
  std::unique_ptr<Covered> covered;
  const std::string copied = std::string(1 << 20, 'c');
};

TEST_F(MovedMeanwhileTest, ADirectory) {
  make_directory("ck.tmp");
  create("ck.tmp/f", "a checkpoint");
  make_directory("z");
  drain();
  create("z/big", copied);
  drain_with([&] { move("ck.tmp", "ck.1"); });
  EXPECT_TRUE(has_bytes("a checkpoint"));
  expect_all_names();
  EXPECT_EQ(get(lower_ + "/ck.1/f"), "a checkpoint");
  EXPECT_FALSE(fs::exists(lower_ + "/ck.tmp"));
}

// The drain comes to one of the two after they have moved, by the path that it had. What it wrote
// there would be taken for somebody else's when the old name goes.
TEST_F(MovedMeanwhileTest, DirectoriesInWhichFilesAreStillToBeWritten) {
  for (const char* name : {"a", "y"}) {
    make_directory(name);
    create(std::string(name) + "/f", "old");
  }
  drain();
  for (const char* name : {"a", "y"}) create(std::string(name) + "/new", copied);
  drain_with([&] {
    move("a", "b");
    move("y", "x");
  });
  expect_all_names();
  for (const char* name : {"b", "x"}) {
    EXPECT_TRUE(get(lower_ + "/" + name + "/new") == copied);
    EXPECT_EQ(get(lower_ + "/" + name + "/f"), "old");
  }
  for (const char* name : {"a", "y"}) EXPECT_FALSE(fs::exists(lower_ + "/" + name));
}

// Its inode may be another one's by the time the drain comes to it.
TEST_F(MovedMeanwhileTest, DirectoriesThatAreRemovedBeforeTheDrainComesToThem) {
  for (const char* name : {"a", "y"}) {
    make_directory(name);
    create(std::string(name) + "/f", "old");
  }
  drain();
  for (const char* name : {"a", "y"}) create(std::string(name) + "/new", copied);
  drain_with([&] {
    for (const char* name : {"a", "y"}) {
      for (const char* file : {"/f", "/new"}) unlink(std::string(name) + file);
      ASSERT_EQ(cairn_rmdir(covered->pool, covered->top, name), 0) << cairn_last_error();
    }
    make_directory("z");
    create("z/new", "of another one");
  });
  expect_all_names();
  EXPECT_EQ(get(lower_ + "/z/new"), "of another one");
  for (const char* name : {"a", "y"}) EXPECT_FALSE(fs::exists(lower_ + "/" + name));
}

TEST_F(MovedMeanwhileTest, AFile) {
  make_directory("z");
  create("z/f", "bytes");
  drain();
  create("z/big", copied);
  drain_with([&] { move("z/f", "f"); });
  EXPECT_TRUE(has_bytes("bytes"));
  expect_all_names();
  EXPECT_FALSE(fs::exists(lower_ + "/z/f"));
}

TEST_F(MovedMeanwhileTest, ANameThatComesAndOneThatGoes) {
  make_directory("z");
  create("z/f", "bytes");
  drain();
  create("z/big", copied);
  drain_with([&] {
    ASSERT_EQ(cairn_link(covered->pool, covered->top, "z/f", covered->top, "f", 0), 0);
    unlink("z/f");
  });
  EXPECT_TRUE(has_bytes("bytes"));
  expect_all_names();
}

// It moved once before the drain, from the name that the drain is to remove.
TEST_F(MovedMeanwhileTest, AFileThatHadMovedBefore) {
  make_directory("y");
  make_directory("z");
  create("z/f", "bytes");
  drain();
  move("z/f", "y/f");
  create("z/big", copied);
  drain_with([&] { move("y/f", "f"); });
  EXPECT_TRUE(has_bytes("bytes"));
  expect_all_names();
}

// New results are written first, then the old ones are removed.
TEST_F(MovedMeanwhileTest, AnOldFileGoesAfterANewOneHasCome) {
  make_directory("z");
  create("z/old", "old");
  drain();
  create("z/big", copied);
  drain_with([&] {
    create("new", "new");
    unlink("z/old");
  });
  EXPECT_TRUE(has_bytes("old") || has_bytes("new"));
  expect_all_names();
}

// A new file takes the name, and is written before the walk comes to where the old one is.
TEST_F(MovedMeanwhileTest, ARotatedLog) {
  make_directory("y");
  create("y/log", "old lines");
  make_directory("z");
  drain();
  create("z/big", copied);
  drain_with([&] {
    move("y/log", "log.1");
    create("y/log", "new lines");
  });
  EXPECT_EQ(get(lower_ + "/y/log"), "new lines");
  EXPECT_TRUE(has_bytes("old lines"));
  expect_all_names();
  EXPECT_EQ(get(lower_ + "/log.1"), "old lines");
}

TEST_F(MovedMeanwhileTest, ALogThatIsRotatedByALink) {
  make_directory("y");
  create("y/log", "old lines");
  make_directory("z");
  drain();
  create("z/big", copied);
  drain_with([&] {
    ASSERT_EQ(cairn_link(covered->pool, covered->top, "y/log", covered->top, "log.1", 0), 0);
    unlink("y/log");
    create("y/log", "new lines");
  });
  EXPECT_EQ(get(lower_ + "/y/log"), "new lines");
  EXPECT_TRUE(has_bytes("old lines"));
  expect_all_names();
}

// Of the two names of a file one is replaced before the other is there.
TEST_F(MovedMeanwhileTest, AFileWithTwoNamesLosesTheDrainedOne) {
  make_directory("w");
  make_directory("y");
  create("y/log", "old lines");
  make_directory("z");
  drain();
  ASSERT_EQ(cairn_link(covered->pool, covered->top, "y/log", covered->top, "w/log", 0), 0);
  create("new", "new lines");
  create("z/big", copied);
  drain_with([&] {
    move("w/log", "log.1");
    move("new", "y/log");
  });
  EXPECT_TRUE(has_bytes("old lines"));
  expect_all_names();
}

// What was kept of the old log stays until it is there under its third name.
TEST_F(MovedMeanwhileTest, KeptBytesWhoseFileMovesAgain) {
  make_directory("r");
  make_directory("z");
  make_directory("q");
  create("q/log", "old lines");
  drain();
  move("q/log", "r/log.1");
  ASSERT_EQ(covered->write("r/log.1", "more lines", 9), 0);
  create("q/log", "new lines");
  create("z/big", copied);
  drain_with([&] { move("r/log.1", "log.2"); });
  EXPECT_EQ(get(lower_ + "/q/log"), "new lines");
  EXPECT_TRUE(has_bytes("old lines") || has_bytes("old linesmore lines"));
  expect_all_names();
  EXPECT_EQ(get(lower_ + "/log.2"), "old linesmore lines");
}

}  // namespace
}  // namespace cairn::test
