// Names and directories that no call makes: a pool may hold them all the same, by a bug or because
// somebody has written them into it. Each is an error that names it, where it can do no harm.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include "damage/forge.h"
#include "file/namespace/names.h"
#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

using std::string_literals::operator""s;

class LyingNames : public testing::Test {
 protected:
  LyingNames() {
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = uint64_t{32} << 20;
    options.lanes = 8;
    EXPECT_EQ(cairn_pool_create(path.c_str(), &options), 0) << cairn_last_error();
    EXPECT_EQ(cairn_pool_attach(path.c_str(), 0, &pool), 0) << cairn_last_error();
    for (const char* name : {"d", "d/e", "d/e/f", "other"}) mkdir(name);
    for (const char* name : {"d/a", "d/bad", "d/z", "d/e/x"}) create(name);
    dir = ino("d");
  }
  ~LyingNames() override { cairn_pool_detach(pool); }

  void mkdir(const std::string& name) const {
    ASSERT_EQ(cairn_mkdir(pool, CAIRN_ROOT, name.c_str(), 0755), 0) << cairn_last_error();
  }
  void create(const std::string& name) const {
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, name.c_str(), O_CREAT | O_RDWR, 0644, &file), 0);
    EXPECT_EQ(cairn_pwrite(file, "bytes", 5, 0), 5);
    cairn_close(file);
  }
  [[nodiscard]] cairn_ino ino(const std::string& name) const {
    cairn_stat st{};
    EXPECT_EQ(cairn_lookup(pool, CAIRN_ROOT, name.c_str(), CAIRN_NOFOLLOW, &st), 0) << name;
    return st.ino;
  }
  // All names; how the listing ended.
  int list(cairn_ino directory, size_t batch, std::set<std::string>* names) const {
    std::vector<cairn_dirent> entries(batch);
    names->clear();
    for (uint64_t cookie = 0, calls = 0;; ++calls) {
      if (calls > 1000) return -ELOOP;
      const int n = cairn_readdir(pool, directory, cookie, entries.data(), entries.size());
      if (n <= 0) return n;
      for (int i = 0; i < n; ++i) names->emplace(entries[i].name, entries[i].length);
      cookie = entries[n - 1].cookie;
    }
  }
  [[nodiscard]] std::vector<std::string> findings() {
    std::vector<std::string> all;
    cairn_pool_detach(pool);
    cairn_pool_check(
        path.c_str(),
        [](void* to, const char* text) {
          static_cast<std::vector<std::string>*>(to)->emplace_back(text);
        },
        &all);
    EXPECT_EQ(cairn_pool_attach(path.c_str(), 0, &pool), 0);
    return all;
  }
  // The only findings hold these words.
  void expect_findings(const std::vector<std::vector<std::string>>& expected) {
    const auto all = findings();
    EXPECT_EQ(all.size(), expected.size()) << testing::PrintToString(all);
    for (const auto& words : expected) {
      bool any = false;
      for (const std::string& text : all) {
        bool matches = true;
        for (const std::string& word : words) matches &= text.find(word) != std::string::npos;
        any |= matches;
      }
      EXPECT_TRUE(any) << testing::PrintToString(words) << " is not in "
                       << testing::PrintToString(all);
    }
  }

  TemporaryFolder folder;
  std::string path = folder.path() + "/pool";
  cairn_pool* pool = nullptr;
  cairn_ino dir = 0;
};

struct BadName {
  std::string bytes;
  std::string shown;
};
const std::vector<BadName> bad_names = {
    {"../x", "../x"},   {"/abs", "/abs"},        {"..", ".."},         {".", "."},
    {"\0x"s, "\\x00x"}, {"mid\0dle"s, "\\x00"},  {"ends\0"s, "\\x00"}, {"a/b", "a/b"},
    {"", "\"\""},       {"slashes/", "slashes/"}};

TEST_F(LyingNames, AListingGivesTheSoundNamesAndThenFails) {
  std::string now = "bad";
  for (const BadName& bad : bad_names) {
    SCOPED_TRACE(bad.shown);
    Forge(pool).name(dir, now, bad.bytes);
    now = bad.bytes;
    for (const size_t batch : {1, 2, 3, 4, 5, 6, 7, 100}) {
      std::set<std::string> names;
      EXPECT_EQ(list(dir, batch, &names), -EUCLEAN);
      const std::string said = cairn_last_error();
      EXPECT_EQ(names, (std::set<std::string>{".", "..", "a", "e", "z"}));
      EXPECT_NE(said.find("directory " + std::to_string(dir)), std::string::npos) << said;
      EXPECT_NE(said.find("slot " + std::to_string(Forge(pool).unit(dir, now))), std::string::npos)
          << said;
      EXPECT_NE(said.find(bad.shown), std::string::npos) << said;
    }
    const std::string number = std::to_string(dir);
    expect_findings({{"directory " + number, "slot ", "is not a valid file name", bad.shown}});
  }
}

TEST_F(LyingNames, AListingOfAnotherDirectoryIsWhole) {
  Forge(pool).name(dir, "bad", "../x");
  std::set<std::string> names;
  EXPECT_EQ(list(ino("d/e"), 100, &names), 0);
  EXPECT_EQ(names, (std::set<std::string>{".", "..", "f", "x"}));
  EXPECT_EQ(list(CAIRN_ROOT, 1, &names), 0);
}

TEST_F(LyingNames, AllUnsoundNamesAreCounted) {
  Forge(pool).name(dir, "a", "/");
  Forge(pool).name(dir, "bad", "..");
  Forge(pool).name(dir, "z", "\0"s);
  std::set<std::string> names;
  EXPECT_EQ(list(dir, 100, &names), -EUCLEAN);
  EXPECT_EQ(names, (std::set<std::string>{".", "..", "e"}));
  EXPECT_NE(std::string(cairn_last_error()).find("2 more"), std::string::npos)
      << cairn_last_error();
}

// The name would reach past its slot, for the last slot of the last block past the pool.
TEST_F(LyingNames, ANameThatRunsOverItsSlot) {
  Forge(pool).length(dir, "bad", 255);
  std::set<std::string> names;
  EXPECT_EQ(list(dir, 100, &names), -EUCLEAN);
  EXPECT_EQ(names, (std::set<std::string>{".", "..", "a", "e", "z"}));
  cairn_stat st{};
  EXPECT_EQ(cairn_lookup(pool, dir, std::string(255, 'b').c_str(), 0, &st), -ENOENT);
  const auto all = findings();
  ASSERT_FALSE(all.empty());
  EXPECT_NE(all[0].find("slot"), std::string::npos) << all[0];
}

TEST_F(LyingNames, NoCallMakesOne) {
  for (const char* name : {"a/b", "..", ".", ""}) {
    const std::string_view text = name;
    auto& fs = capi::fs_of(pool);
    const WriteWindow window;
    EXPECT_EQ(file::create_name(fs, dir, text, {S_IFREG | 0600}).code(), EINVAL) << text;
    EXPECT_EQ(file::rename(fs, {dir, "a", false}, {dir, text, false}, 0).ok(), false) << text;
  }
  const WriteWindow window;
  EXPECT_EQ(file::create_name(capi::fs_of(pool), dir, {"a\0b", 3}, {S_IFREG | 0600}).code(),
            EINVAL);
}

TEST_F(LyingNames, ALinkWhoseTextHoldsAZeroByte) {
  ASSERT_EQ(cairn_symlink(pool, "target", dir, "link"), 0);
  Forge(pool).link_text(ino("d/link"), "a\0b"s);
  char text[16];
  EXPECT_EQ(cairn_readlink(pool, dir, "link", text, sizeof text), -EUCLEAN);
  cairn_stat st{};
  EXPECT_EQ(cairn_lookup(pool, dir, "link", 0, &st), -EUCLEAN);
}

TEST_F(LyingNames, CheckFindsADirectoryThatIsItsOwnDescendant) {
  // other/ takes the place of nothing: "f", below d/e, becomes a name of d.
  Forge(pool).inode(ino("d/e"), "f", dir);
  const auto all = findings();
  bool two_names = false;
  for (const std::string& text : all)
    two_names |= text.find("directory " + std::to_string(dir) + " has two names") == 0;
  EXPECT_TRUE(two_names) << testing::PrintToString(all);
}

TEST_F(LyingNames, CheckFindsACircleThatTheRootDoesNotReach) {
  const cairn_ino e = ino("d/e");
  Forge forge(pool);
  forge.inode(e, "f", dir);                    // d/e/f is d,
  forge.parent(dir, e);                        // which says so,
  forge.inode(CAIRN_ROOT, "d", ino("other"));  // and the root knows nothing of it.
  const auto all = findings();
  bool circle = false;
  for (const std::string& text : all) circle |= text.find("cannot be reached") != std::string::npos;
  EXPECT_TRUE(circle) << testing::PrintToString(all);
}

TEST_F(LyingNames, CheckFindsANameThatStandsTwice) {
  Forge(pool).name(dir, "bad", "a");
  const auto all = findings();
  bool twice = false;
  for (const std::string& text : all)
    twice |= text.find("\"a\" stands in slot") != std::string::npos &&
             text.find("directory " + std::to_string(dir)) == 0;
  EXPECT_TRUE(twice) << testing::PrintToString(all);
}

TEST_F(LyingNames, CheckFindsANameOfNoInode) {
  for (const cairn_ino number :
       {cairn_ino{0}, cairn_ino{1} << 30, ~cairn_ino{0}, ino("d/z") + 40}) {
    Forge(pool).inode(dir, "bad", number);
    const auto all = findings();
    bool found = false;
    for (const std::string& text : all)
      found |= text.find("\"bad\" names inode " + std::to_string(number) +
                         ", which does not exist") != std::string::npos;
    EXPECT_TRUE(found) << testing::PrintToString(all);
  }
}

TEST_F(LyingNames, CheckFindsAWrongType) {
  Forge(pool).type(dir, "bad", DT_DIR);
  const std::string number = std::to_string(dir);
  expect_findings({{"directory " + number, "slot", "\"bad\" has type 4"}});
}

TEST_F(LyingNames, CheckFindsANameThatIsNotInTheIndex) {
  Forge(pool).forget(dir, "bad");
  const std::string number = std::to_string(dir);
  expect_findings({{"directory " + number, "slot", "\"bad\" is not in its index"}});
}

// Removing or moving a directory that is named in itself would wait for itself.
TEST_F(LyingNames, ADirectoryThatNamesItself) {
  Forge(pool).inode(ino("d/e"), "f", ino("d/e"));
  EXPECT_EQ(cairn_rmdir(pool, CAIRN_ROOT, "d/e/f"), -EUCLEAN) << cairn_last_error();
  EXPECT_EQ(cairn_rename(pool, CAIRN_ROOT, "d/e/f", CAIRN_ROOT, "g", 0), -EUCLEAN);
  EXPECT_EQ(cairn_rename(pool, CAIRN_ROOT, "other", CAIRN_ROOT, "d/e/f", 0), -EUCLEAN);
}

}  // namespace
}  // namespace cairn::test
