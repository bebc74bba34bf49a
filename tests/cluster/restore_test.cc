// What was put away because one node has removed it and another has made it anew, where nobody
// carries that to the directory.
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cluster/covered_nodes.h"

namespace cairn::test {
namespace {

namespace stdfs = std::filesystem;

void write_lower(const std::string& directory, const std::string& path, const std::string& text) {
  const std::string whole = directory + "/" + path;
  stdfs::create_directories(stdfs::path(whole).parent_path());
  std::ofstream(whole) << text;
}

std::string read_lower(const CoveredNodes& covered, const std::string& path) {
  std::ifstream file(covered.directory() + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool has_left(const CoveredNodes& covered) {
  for (const auto& entry : stdfs::directory_iterator(covered.directory()))
    if (entry.path().filename().string().rfind(".cairn-", 0) == 0) return true;
  return false;
}

void prepare(const std::string& directory) {
  for (const char* path : {"file", "tree/file", "tree/sub/file", "other/file"})
    write_lower(directory, path, std::string("old ") + path);
}

// Node 0 removes, node 1 makes anew.
void make_anew(const CoveredNodes& covered) {
  for (const char* path : {"file", "other/file", "tree/file", "tree/sub/file"})
    ASSERT_EQ(cairn_shared_unlink(covered.job(0), path), 0) << cairn_last_error();
  ASSERT_EQ(cairn_shared_mknod(covered.job(1), "tree/file", 0640, 0), 0) << cairn_last_error();
  ASSERT_EQ(cairn_shared_unlink(covered.job(1), "tree/file"), 0) << cairn_last_error();
  for (const char* path : {"tree/sub", "tree"})
    ASSERT_EQ(cairn_shared_rmdir(covered.job(0), path), 0) << cairn_last_error();
  ASSERT_EQ(cairn_shared_mkdir(covered.job(1), "tree", 0755), 0) << cairn_last_error();
  for (const char* path : {"file", "other/file"})
    ASSERT_EQ(cairn_shared_mknod(covered.job(1), path, 0640, 0), 0) << cairn_last_error();
  for (const char* path : {"file", "other/file", "tree"})
    ASSERT_FALSE(stdfs::exists(covered.directory() + "/" + path)) << path;
}

TEST(WhatWasPutAway, ComesBackWhenAllDiscardIt) {
  CoveredNodes covered(2, 64 << 20, prepare);
  struct stat before = {};
  ASSERT_EQ(stat((covered.directory() + "/other").c_str(), &before), 0);
  make_anew(covered);
  covered.stop();
  covered.discard(0);
  // Node 1 may still carry there what has taken its place.
  EXPECT_FALSE(stdfs::exists(covered.directory() + "/file"));
  covered.discard(1);
  for (const char* path : {"file", "tree/file", "tree/sub/file", "other/file"})
    EXPECT_EQ(read_lower(covered, path), std::string("old ") + path);
  EXPECT_FALSE(has_left(covered));
  struct stat after = {};
  ASSERT_EQ(stat((covered.directory() + "/other").c_str(), &after), 0);
  EXPECT_EQ(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
  EXPECT_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
}

// The user has opened all of his directory for reading.
TEST(WhatWasPutAway, ComesBackFromADirectoryThatOthersCanRead) {
  CoveredNodes covered(2, 64 << 20, prepare);
  make_anew(covered);
  covered.stop();
  for (const auto& entry : stdfs::directory_iterator(covered.directory())) {
    if (entry.is_directory()) {
      ASSERT_EQ(chmod(entry.path().c_str(), 0755), 0);
    }
  }
  covered.discard(0);
  covered.discard(1);
  for (const char* path : {"file", "tree/file", "tree/sub/file", "other/file"})
    EXPECT_EQ(read_lower(covered, path), std::string("old ") + path);
  EXPECT_FALSE(has_left(covered));
}

TEST(WhatWasPutAway, HoldsUpNobodyIfItCannotGoBack) {
  CoveredNodes covered(2, 64 << 20, prepare);
  make_anew(covered);
  covered.stop();
  covered.discard(0);
  std::vector<std::string> kept;
  for (const auto& entry : stdfs::directory_iterator(covered.directory()))
    if (entry.path().filename().string().rfind(".cairn-drain-", 0) == 0)
      kept.push_back(entry.path());
  ASSERT_FALSE(kept.empty());
  for (const std::string& place : kept) {
    stdfs::create_directory(place + "/origin-no-note");
    std::ofstream(place + "/x") << "of no use";
    std::ofstream(place + "/origin-x") << std::string(300, 'a');  // no file system has such a name
  }
  EXPECT_EQ(covered.try_to_discard(1), -ENAMETOOLONG);
  for (const char* path : {"file", "tree/file", "tree/sub/file", "other/file"})
    EXPECT_EQ(read_lower(covered, path), std::string("old ") + path);
  EXPECT_FALSE(stdfs::exists(covered.directory() + "/.cairn-claim"));
}

// The claims stay then, and the next drain removes what is still put away.
TEST(WhatWasPutAway, ComesBackWhenTheNextRunBeginsAnew) {
  for (const uint32_t first : {0U, 1U}) {
    CoveredNodes covered(2, 64 << 20, prepare);
    make_anew(covered);
    covered.stop();
    covered.begin_anew(first);
    covered.begin_anew(1 - first);
    for (const char* path : {"file", "tree/file", "tree/sub/file", "other/file"})
      EXPECT_EQ(read_lower(covered, path), std::string("old ") + path);
    for (const uint32_t node : {0U, 1U}) {
      EXPECT_NE(covered.mode(node, "file"), 0U);
      covered.make_file(node, node == 0 ? "new" : "newer");
      covered.drain(node);
    }
    for (const uint32_t node : {0U, 1U}) covered.discard(node);
    for (const char* path : {"file", "tree/file", "tree/sub/file", "other/file"})
      EXPECT_EQ(read_lower(covered, path), std::string("old ") + path);
    EXPECT_TRUE(stdfs::exists(covered.directory() + "/newer"));
    EXPECT_FALSE(has_left(covered));
  }
}

TEST(WhatWasPutAway, TakesThePlaceOfNothing) {
  CoveredNodes covered(2, 64 << 20, prepare);
  make_anew(covered);
  covered.stop();
  covered.drain(1);
  covered.discard(1);
  covered.discard(0);
  EXPECT_EQ(read_lower(covered, "file"), "");
  EXPECT_EQ(read_lower(covered, "other/file"), "");
}

TEST(WhatWasPutAway, GoesWithTheDrainThatTellsOfTheRemoval) {
  CoveredNodes covered(2, 64 << 20, prepare);
  make_anew(covered);
  covered.stop();
  covered.drain(0);
  covered.discard(0);
  covered.discard(1);
  for (const char* path : {"file", "tree/file", "tree/sub", "other/file"})
    EXPECT_FALSE(stdfs::exists(covered.directory() + "/" + path)) << path;
  EXPECT_FALSE(has_left(covered));
}

}  // namespace
}  // namespace cairn::test
