// Kept directories under names that are taken, with modes that others gave them, and with contents
// that a drain may not remove.
#include "tier/claim/kept_directory.h"

#include <fcntl.h>
#include <stdio.h>  // NOLINT: RENAME_NOREPLACE
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "capi/core/handles.h"
#include "tier/claim/restore.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"
#include "tier/system/same_directory.h"

namespace cairn::test {
namespace {

constexpr uint64_t no_owner = tier::no_owner;

class KeptDirectoryTest : public CoverTest {
 protected:
  KeptDirectoryTest() {
    fs::create_directories(lower_);
    make_pool();
    directory_ = tier::sys::Descriptor(open(lower_.c_str(), O_RDONLY | O_DIRECTORY));
  }
  ~KeptDirectoryTest() override { set_lower_hook(nullptr); }

  [[nodiscard]] int directory() const { return directory_.get(); }
  // The path of the kept directory of this pool, which is made if need be.
  std::string make(const Covered& covered) {
    tier::sys::Descriptor kept;
    const int64_t made =
        tier::make_kept_directory(capi::fs_of(covered.pool), directory(), no_owner, &kept);
    EXPECT_EQ(made, 0);
    return made == 0 ? fs::read_symlink("/proc/self/fd/" + std::to_string(kept.get())).string()
                     : "";
  }
  size_t count(const Covered& covered) {
    return tier::find_kept_directories(capi::fs_of(covered.pool), directory(), no_owner).size();
  }
  [[nodiscard]] std::vector<std::string> hidden() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(lower_))
      if (entry.path().filename().string().rfind(".cairn-drain-", 0) == 0)
        names.push_back(entry.path());
    return names;
  }

 private:
  tier::sys::Descriptor directory_;
};

TEST_F(KeptDirectoryTest, ANameThatIsTakenLeadsToOneOtherDirectory) {
  Covered covered(pool_, lower_);
  const std::string first = make(covered);
  fs::remove_all(first);
  put(first, "not Cairn's");
  const std::string other = make(covered);
  EXPECT_NE(other, first);
  EXPECT_EQ(make(covered), other);
  put(other + "/item", "replaced");
  // It is found whatever becomes of the name, and goes with the next drain.
  fs::remove(first);
  EXPECT_EQ(count(covered), 1U);
  EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
  EXPECT_EQ(hidden(), std::vector<std::string>());
}

TEST_F(KeptDirectoryTest, OneThatWasOpenedForReadingCounts) {
  Covered covered(pool_, lower_);
  const std::string path = make(covered);
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  tier::sys::Descriptor kept;
  EXPECT_EQ(tier::open_kept_directory(directory(), fs::path(path).filename(), no_owner, &kept), 0);
  EXPECT_EQ(count(covered), 1U);
  // What is kept there from now on can be private.
  EXPECT_EQ(make(covered), path);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
}

TEST_F(KeptDirectoryTest, OneThatOthersCanWriteToIsTold) {
  Covered covered(pool_, lower_);
  const std::string path = make(covered);
  put(path + "/item", "put away");
  put(path + "/origin-item", "brought");
  ASSERT_EQ(chmod(path.c_str(), 0775), 0);
  EXPECT_EQ(count(covered), 0U);
  EXPECT_EQ(tier::restore(directory(), no_owner), -EPERM);
  EXPECT_EQ(get(path + "/item"), "put away");
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  EXPECT_EQ(tier::restore(directory(), no_owner), 0);
  EXPECT_EQ(get(lower_ + "/brought"), "put away");
}

// Some file systems show all directories with one mode.
TEST_F(KeptDirectoryTest, WhereOthersCanWriteToAnyNothingIsLeft) {
  Covered covered(pool_, lower_);
  set_lower_hook([](const LowerCall& call) {
    if (call.number == SYS_statx && names(call.arguments[0], ".cairn-drain-"))
      fchmod(static_cast<int>(call.arguments[0]), 0777);
    return 0;
  });
  tier::sys::Descriptor kept;
  EXPECT_EQ(tier::make_kept_directory(capi::fs_of(covered.pool), directory(), no_owner, &kept),
            -EEXIST);
  set_lower_hook(nullptr);
  EXPECT_EQ(hidden(), std::vector<std::string>());
}

// Something else takes the name of a replaced directory. Its way back is closed.
TEST_F(KeptDirectoryTest, WhatCannotGoBackIsNotRemoved) {
  fs::create_directory(lower_ + "/doomed");
  put(lower_ + "/doomed/file", "replaced");
  fs::create_directory(lower_ + "/private");
  put(lower_ + "/private/file", "private");
  Covered covered(pool_, lower_);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "doomed/file"), 0);
  ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, "doomed"), 0);
  ASSERT_EQ(covered.create("doomed", "a file"), 0);
  set_lower_hook([&, renames = 0](const LowerCall& call) mutable {
    if (call.number != SYS_renameat2) return 0;
    const auto* from = reinterpret_cast<const char*>(call.arguments[1]);
    const auto* to = reinterpret_cast<const char*>(call.arguments[3]);
    if (std::strcmp(from, "doomed") == 0 && ++renames == 1) {
      fs::rename(lower_ + "/doomed", lower_ + "/gone");
      fs::rename(lower_ + "/private", lower_ + "/doomed");
    } else if (std::strcmp(to, "doomed") == 0 && ++renames == 2) {
      fs::create_directory(lower_ + "/doomed");
    }
    return 0;
  });
  EXPECT_NE(covered.drain().code, 0);
  set_lower_hook(nullptr);
  fs::remove_all(lower_ + "/doomed");
  fs::remove_all(lower_ + "/gone");
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, -EIO);
  ASSERT_EQ(hidden().size(), 1U);
  std::string found;
  for (const auto& entry : fs::directory_iterator(hidden().front()))
    if (entry.path().filename().string().rfind("foreign-", 0) == 0) found = entry.path();
  EXPECT_EQ(get(found + "/file"), "private");
  ASSERT_FALSE(drained.problems.empty());
  EXPECT_NE(drained.problems.front().find(found), std::string::npos) << drained.problems.front();
  // The user moves it away.
  fs::rename(found, lower_ + "/private");
  EXPECT_EQ(covered.drain().code, 0);
  EXPECT_EQ(hidden(), std::vector<std::string>());
}

}  // namespace
}  // namespace cairn::test
