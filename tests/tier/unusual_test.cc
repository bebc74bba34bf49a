// Times before 1970, names that look like ours, and trees deeper than a path is long.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <fstream>

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
  ASSERT_EQ(cairn_utimens(covered.pool, covered.stat("new").ino, 0, -1, -1'500'000'000), 0);
  ASSERT_EQ(cairn_chmod(covered.pool, covered.stat("dir/there").ino, 0, 0600), 0);
  expect_drained(covered);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/new").c_str(), &st), 0);
  EXPECT_EQ(st.st_mtim.tv_sec, -2);
  EXPECT_EQ(st.st_mtim.tv_nsec, 500'000'000);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "dir/there"), 0);
  ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, "dir"), 0);
  expect_drained(covered);
}

// What copies files finds their holes without reading them, and sees beforehand that there are
// some.
TEST_F(Unusual, FilesWithHolesThatWereThereBefore) {
  constexpr int64_t mib = 1 << 20;
  lower_ = shared_.path("sparse");  // a file system with holes
  fs::create_directory(lower_);
  put(lower_ + "/f", "");
  fs::resize_file(lower_ + "/f", 2 * mib);
  std::ofstream(lower_ + "/f", std::ios::in | std::ios::out).seekp(mib) << "data";
  put(lower_ + "/empty", "");
  fs::resize_file(lower_ + "/empty", 65 << 20);  // larger than the pool
  Covered covered(pool_, lower_);
  const auto seek = [&](const char* name, int64_t offset, int whence) {
    cairn_file* file = nullptr;
    EXPECT_EQ(cairn_open(covered.pool, covered.top, name, O_RDONLY, 0, &file), 0);
    const int64_t found = cairn_seek(file, offset, whence);
    cairn_close(file);
    return found;
  };
  for (const bool is_staged : {false, true}) {
    SCOPED_TRACE(is_staged ? "in the pool" : "in lower");
    EXPECT_EQ(covered.stat("f").blocks, 8U);
    EXPECT_EQ(seek("f", 0, SEEK_DATA), mib);
    EXPECT_EQ(seek("f", 0, SEEK_HOLE), 0);
    EXPECT_EQ(seek("f", mib + 1, SEEK_HOLE), mib + 4096);
    EXPECT_EQ(seek("f", mib + 4096, SEEK_DATA), -ENXIO);
    EXPECT_EQ(seek("f", 2 * mib, SEEK_HOLE), -ENXIO);
    EXPECT_EQ(covered.stat("empty").blocks, 0U);
    EXPECT_EQ(seek("empty", 0, SEEK_DATA), -ENXIO);
    EXPECT_EQ(seek("empty", 0, SEEK_HOLE), 0);
    ASSERT_EQ(covered.write("f", "more", mib), 0);
    ASSERT_EQ(cairn_rename(covered.pool, covered.top, "empty", covered.top, "moved", 0), 0);
    ASSERT_EQ(cairn_rename(covered.pool, covered.top, "moved", covered.top, "empty", 0), 0);
  }
  expect_drained(covered);
  EXPECT_EQ(get(lower_ + "/f").substr(mib, 4), "more");
}

// Its bytes lie below, where they were found by the name that goes.
TEST_F(Unusual, WhatIsOpenLosesItsName) {
  const std::string text(300'000, 'o');
  for (const char* name : {"removed", "replaced"}) put(lower_ + "/" + name, text);
  Covered covered(pool_, lower_);
  std::vector<cairn_file*> files;
  for (const char* name : {"removed", "replaced"})
    ASSERT_EQ(cairn_open(covered.pool, covered.top, name, O_RDONLY, 0, &files.emplace_back()), 0);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "removed"), 0);
  ASSERT_EQ(cairn_mknod(covered.pool, covered.top, "new", S_IFREG | 0600), 0);
  ASSERT_EQ(cairn_rename(covered.pool, covered.top, "new", covered.top, "replaced", 0), 0);
  const auto expect_readable = [&] {
    for (cairn_file* file : files) {
      std::string read(text.size(), '?');
      EXPECT_EQ(cairn_pread(file, read.data(), read.size(), 0), static_cast<ssize_t>(read.size()))
          << cairn_last_error();
      EXPECT_EQ(read, text);
    }
  };
  expect_readable();
  expect_drained(covered);
  expect_readable();
  for (cairn_file* file : files) cairn_close(file);
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
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  // Paths of three quarters of what the system takes, and of more than that. A level takes a
  // descriptor, here and there: where few may be open, levels have longer names.
  std::string name = "d";
  const auto levels_that_fit = [&] { return PATH_MAX / static_cast<int>(name.size() + 1); };
  while (4 * static_cast<rlim_t>(levels_that_fit()) > limit.rlim_max) name += name;
  const int shallow = levels_that_fit() * 3 / 4;
  lower_ = shared_.path("deep");  // in memory: each level is synced
  fs::create_directory(lower_);
  for (const int levels : {shallow, levels_that_fit() * 5 / 4}) {
    SCOPED_TRACE(levels);
    Covered covered(pool_, lower_);
    cairn_ino at = covered.top;
    std::vector<cairn_ino> way = {at};
    for (int i = 0; i < levels; ++i) {
      ASSERT_EQ(cairn_mkdir(covered.pool, at, name.c_str(), 0755), 0) << cairn_last_error();
      cairn_stat st = {};
      ASSERT_EQ(cairn_lookup(covered.pool, at, name.c_str(), CAIRN_NOFOLLOW, &st), 0);
      at = st.ino;
      way.push_back(at);
    }
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(covered.pool, at, "f", O_WRONLY | O_CREAT, 0644, &file), 0);
    ASSERT_EQ(cairn_write(file, "deep", 4), 4);
    cairn_close(file);
    const Drained drained = covered.drain();
    EXPECT_EQ(drained.code, 0);
    for (const std::string& problem : drained.problems) ADD_FAILURE() << problem.substr(0, 300);
    cairn_stat st = {};
    EXPECT_EQ(cairn_lookup(covered.pool, at, "f", CAIRN_NOFOLLOW, &st), 0);
    ASSERT_EQ(cairn_unlink(covered.pool, at, "f"), 0);
    for (size_t i = way.size() - 1; i-- > 0;)
      ASSERT_EQ(cairn_rmdir(covered.pool, way[i], name.c_str()), 0) << cairn_last_error();
    const Drained removed = covered.drain();
    EXPECT_EQ(removed.code, 0);
    for (const std::string& problem : removed.problems) ADD_FAILURE() << problem.substr(0, 300);
    EXPECT_FALSE(fs::exists(lower_ + "/" + name));
  }
}

}  // namespace
}  // namespace cairn::test
