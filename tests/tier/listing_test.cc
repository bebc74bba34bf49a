// A directory that is being listed while it is drained: the identities that its names get there
// must not move them.
#include <fcntl.h>

#include <algorithm>

#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

class ListingTest : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    fs::create_directories(lower_ + "/old");
  }
};

// Goes on from `cookie` for at most `most` names, and adds them to `seen`.
bool list_on(const Covered& covered, cairn_ino directory, uint64_t* cookie, size_t most,
             std::vector<std::string>* seen) {
  std::vector<cairn_dirent> entries(most);
  const int n = cairn_readdir(covered.pool, directory, *cookie, entries.data(), most);
  EXPECT_GE(n, 0) << cairn_last_error();
  for (int i = 0; i < n; ++i) seen->emplace_back(entries[static_cast<size_t>(i)].name);
  if (n > 0) *cookie = entries[static_cast<size_t>(n) - 1].cookie;
  return n > 0;
}

TEST_F(ListingTest, NamesAreSeenOnceWhileTheyAreDrained) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "made", 0755), 0) << cairn_last_error();
  for (const std::string directory : {"old", "made"}) {
    // Short and long names, and gaps behind the place where the listing will stand.
    std::vector<std::string> expected{".", ".."};
    for (int i = 0; i < 60; ++i) {
      const std::string name = "n" + std::to_string(i) + std::string(i % 3 == 0 ? 50 : 0, 'x');
      ASSERT_EQ(covered.create(directory + "/" + name, "text"), 0) << cairn_last_error();
      if (i % 7 == 1) {
        ASSERT_EQ(cairn_unlink(covered.pool, covered.top, (directory + "/" + name).c_str()), 0);
      } else {
        expected.push_back(name);
      }
    }
    const cairn_ino number = covered.stat(directory).ino;
    std::vector<std::string> seen;
    uint64_t cookie = 0;
    ASSERT_TRUE(list_on(covered, number, &cookie, 20, &seen));
    const Drained drained = covered.drain();
    ASSERT_EQ(drained.code, 0) << cairn_last_error();
    EXPECT_GE(drained.report.files, 50U);
    while (list_on(covered, number, &cookie, 20, &seen)) {
    }
    std::sort(expected.begin(), expected.end());
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, expected) << directory;
  }
}

// A name that was drained and then removed leaves a whiteout, which the next drain ends; the name
// may be made again at any time.
TEST_F(ListingTest, DrainedNamesComeAndGo) {
  Covered covered(pool_, lower_);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(covered.create("file", "round " + std::to_string(round)), 0) << cairn_last_error();
    ASSERT_EQ(covered.drain().code, 0) << cairn_last_error();
    EXPECT_EQ(get(lower_ + "/file"), "round " + std::to_string(round));
    ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "file"), 0) << cairn_last_error();
    if (round == 1) continue;  // made again over the whiteout
    ASSERT_EQ(covered.drain().code, 0) << cairn_last_error();
    EXPECT_FALSE(fs::exists(lower_ + "/file"));
  }
  EXPECT_EQ(covered.list("."), std::vector<std::string>{"old"});
}

}  // namespace
}  // namespace cairn::test
