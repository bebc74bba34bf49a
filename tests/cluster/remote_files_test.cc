// Ordinary files that processes of one node have written through other calls, as those of other
// nodes meet them by name.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <map>

#include "cluster/files_of_nodes.h"

namespace cairn::test {
namespace {

std::map<std::string, uint64_t> list(cairn_job* job, const char* directory) {
  std::map<std::string, uint64_t> names;
  const auto visit = [](void* to, const char* name, uint64_t ino) {
    (*static_cast<std::map<std::string, uint64_t>*>(to))[name] = ino;
    return 0;
  };
  EXPECT_EQ(cairn_shared_list_ordinary(job, directory, visit, &names), 0) << cairn_last_error();
  return names;
}

TEST(OrdinaryFilesOfOtherNodes, AreShownAndRead) {
  CoveredNodes covered(3);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "out", 0755), 0);
  const std::string bytes = bytes_of(20'000'000);
  write_own(covered, 1, "out/file", bytes);
  cairn_stat own = {};
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "out/file", 0, &own), 0);
  uint64_t number = 0;
  for (const uint32_t node : {0U, 2U}) {
    cairn_stat st = {};
    ASSERT_EQ(cairn_shared_stat_ordinary(covered.job(node), "out/file", &st), 0)
        << cairn_last_error();
    EXPECT_EQ(st.size, bytes.size());
    EXPECT_EQ(st.mode, S_IFREG | 0640U);
    EXPECT_EQ(st.mtime_ns, own.mtime_ns);
    EXPECT_EQ(st.blocks, own.blocks);
    EXPECT_NE(st.ino, own.ino);
    EXPECT_TRUE(number == 0 || st.ino == number);
    number = st.ino;
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_shared_open_reader(covered.job(node), "out/file", O_RDONLY, &file), 0);
    EXPECT_TRUE(read_all(file) == bytes);
    char some[3];
    EXPECT_EQ(cairn_pread(file, some, 3, 12'345'678), 3);
    EXPECT_EQ(std::string(some, 3), bytes.substr(12'345'678, 3));
    cairn_close(file);
    EXPECT_EQ(list(covered.job(node), "out"), (std::map<std::string, uint64_t>{{"file", number}}));
  }
  cairn_stat st = {};
  for (const char* none : {"out/none", "none/file", "out", "out/file/below"})
    EXPECT_EQ(cairn_shared_stat_ordinary(covered.job(0), none, &st), -ENOENT) << none;
  // Not to its own node: there it is a file as any.
  EXPECT_EQ(cairn_shared_stat_ordinary(covered.job(1), "out/file", &st), -ENOENT);
  EXPECT_TRUE(list(covered.job(1), "out").empty());
}

// Made here since somebody looked for it.
TEST(OrdinaryFilesOfOtherNodes, ThatAreRenamedReplaceTheCallersOwn) {
  CoveredNodes covered(3);
  write_own(covered, 1, "file", "renamed");
  for (const uint32_t node : {0U, 2U}) write_own(covered, node, "other", "replaced");
  ASSERT_EQ(cairn_shared_rename(covered.job(0), "file", "other", 0), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode(0, "other"), 0U);
  EXPECT_EQ(covered.mode(2, "other"), 0U);
  EXPECT_EQ(read_own(covered, 1, "other"), "renamed");
}

TEST(OrdinaryFilesOfOtherNodes, AreListedHoweverManyThereAre) {
  CoveredNodes covered(2);
  for (int i = 0; i < 3000; ++i)
    covered.make_file(1,
                      ("a file with a name of some length, number " + std::to_string(i)).c_str());
  EXPECT_EQ(list(covered.job(0), "").size(), 3000U);
}

TEST(OrdinaryFilesOfOtherNodes, WhatIsGoneIsReadOnAndWhatIsCutIsAnError) {
  CoveredNodes covered(2);
  write_own(covered, 1, "gone", bytes_of(3'000'000));
  write_own(covered, 1, "cut", bytes_of(3'000'000));
  char byte = 0;
  cairn_file* gone = nullptr;
  cairn_file* cut = nullptr;
  ASSERT_EQ(cairn_shared_open_reader(covered.job(0), "gone", O_RDONLY, &gone), 0);
  ASSERT_EQ(cairn_shared_open_reader(covered.job(0), "cut", O_RDONLY, &cut), 0);
  EXPECT_EQ(cairn_shared_set_size(covered.job(0), "cut", 100), 0);
  EXPECT_EQ(cairn_shared_remove(covered.job(0), "gone"), 0);
  EXPECT_EQ(cairn_pread(gone, &byte, 1, 2'000'000), 1) << cairn_last_error();
  EXPECT_EQ(byte, bytes_of(2'000'001).back());
  EXPECT_EQ(cairn_pread(cut, &byte, 1, 2'000'000), -EIO);
  EXPECT_NE(std::string(cairn_last_error()).find("node1"), std::string::npos) << cairn_last_error();
  EXPECT_EQ(read_own(covered, 1, "cut"), bytes_of(100));
  cairn_close(gone);
  cairn_close(cut);
  EXPECT_EQ(cairn_shared_remove(covered.job(0), "gone"), -ENOENT);
  EXPECT_EQ(covered.mode(1, "gone"), 0U);
}

TEST(OrdinaryFilesOfOtherNodes, ChangeWhereTheyLie) {
  CoveredNodes covered(3);
  write_own(covered, 1, "file", "contents");
  write_own(covered, 2, "other", "replaced");
  EXPECT_EQ(cairn_shared_set_attributes(covered.job(0), "file", 0604, UINT32_MAX, UINT32_MAX, 3, 5),
            0);
  cairn_stat st = {};
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "file", 0, &st), 0);
  EXPECT_EQ(st.mode, S_IFREG | 0604U);
  EXPECT_EQ(st.atime_ns, 3);
  EXPECT_EQ(st.mtime_ns, 5);
  EXPECT_EQ(cairn_shared_set_attributes(covered.job(0), "file", UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                        -1, CAIRN_TIME_OMIT),
            0);
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "file", 0, &st), 0);
  EXPECT_EQ(st.atime_ns, -1);
  EXPECT_EQ(st.mtime_ns, 5);
  EXPECT_EQ(cairn_shared_rename(covered.job(0), "file", "other", 0), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode(2, "other"), 0U);
  EXPECT_EQ(covered.mode(1, "file"), 0U);
  EXPECT_EQ(read_own(covered, 1, "other"), "contents");
}

TEST(OrdinaryFilesOfOtherNodes, GoIntoDirectoriesThatTheirNodeLacks) {
  CoveredNodes covered(3);
  write_own(covered, 1, "file", "contents");
  write_own(covered, 1, "kept", "as well");
  ASSERT_EQ(cairn_mkdir(covered.pool(0), covered.top(0), "a", 0700), 0);
  ASSERT_EQ(cairn_mkdir(covered.pool(0), covered.top(0), "a/b", 0711), 0);
  EXPECT_EQ(cairn_shared_rename(covered.job(0), "file", "none/file", 0), -ENOENT);
  EXPECT_EQ(cairn_shared_rename(covered.job(0), "file", "a/b/file", 0), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode("a/b"), S_IFDIR | 0711U);
  EXPECT_EQ(read_own(covered, 1, "a/b/file"), "contents");
  ASSERT_EQ(cairn_mkdir(covered.pool(0), covered.top(0), "a/c", 0700), 0);
  EXPECT_EQ(cairn_shared_rename(covered.job(0), "kept", "a/c/kept", RENAME_NOREPLACE), 0)
      << cairn_last_error();
  EXPECT_EQ(read_own(covered, 1, "a/c/kept"), "as well");
}

}  // namespace
}  // namespace cairn::test
