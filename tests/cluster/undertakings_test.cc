// A process of a job on several nodes is killed while it changes a name: who takes its lock
// finishes that on all nodes, or it never was.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "capi/job/job.h"
#include "cluster/covered_nodes.h"
#include "cluster/names/intent.h"
#include "cluster/rpc/job_lock.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;
using cluster::IntentKind;
using cluster::NameChange;
using cluster::NameOp;

constexpr uint32_t killed = 1;  // the node of the process that was

cluster::Job& node_job(const CoveredNodes& covered, uint32_t node) {
  return covered.job(node)->job;
}

CoveredNodes& with_names(CoveredNodes& covered) {
  EXPECT_EQ(cairn_shared_mkdir(covered.job(0), "directory", 0750), 0);
  EXPECT_EQ(cairn_shared_symlink(covered.job(0), "target", "link"), 0);
  return covered;
}

void fill_lower(const std::string& directory) {
  std::ofstream(directory + "/before") << "before";
  std::ofstream(directory + "/other") << "other";
}

void step(const CoveredNodes& covered, uint32_t node, const NameChange& change) {
  EXPECT_TRUE(cluster::change_name(node_job(covered, node), change).ok()) << last_detail();
}

file::Seen seen(const CoveredNodes& covered, const char* path) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_lookup(covered.pool(killed), covered.top(killed), path, CAIRN_NOFOLLOW, &st), 0);
  return {st.ino, st.generation};
}

// By each node in turn: what one has finished, the next one finds done.
void finish(const CoveredNodes& covered, IntentKind doing, const NameChange& change,
            const file::Seen& seen = {}) {
  const std::string told = cluster::packed({doing, change, killed, seen, {}});
  for (const uint32_t node : {2U, killed, 0U})
    EXPECT_TRUE(cluster::finish(node_job(covered, node), told).ok())
        << node << ": " << last_detail();
}

void drain_all(CoveredNodes& covered) {
  covered.stop();
  for (uint32_t node = 0; node < 3; ++node) covered.drain(node);
}

bool is_in_lower(const CoveredNodes& covered, const char* path) {
  return fs::symlink_status(covered.directory() + "/" + path).type() != fs::file_type::not_found;
}

TEST(Undertakings, MakingIsDoneEverywhere) {
  for (const bool finishes : {true, false}) {
    CoveredNodes covered(3);
    const NameChange directory = {NameOp::make_directory, 0711, "new", ""};
    const NameChange link = {NameOp::make_special, S_IFLNK | 0777, "pointer", "target"};
    const NameChange fifo = {NameOp::make_special, S_IFIFO | 0600, "fifo", ""};
    for (const NameChange& change : {directory, link, fifo}) {
      step(covered, killed, change);
      if (S_ISLNK(change.mode)) step(covered, 0, change);
      if (finishes) finish(covered, IntentKind::making, change);
    }
    if (finishes) {
      EXPECT_EQ(covered.mode("new"), S_IFDIR | 0711U);
      EXPECT_EQ(covered.mode("pointer"), S_IFLNK | 0777U);
      EXPECT_EQ(covered.mode("fifo"), S_IFIFO | 0600U);
    }
    drain_all(covered);
    EXPECT_TRUE(is_in_lower(covered, "new") && is_in_lower(covered, "pointer"));
  }
}

TEST(Undertakings, MakingIsTakenBackWhereANodeHasAnotherThing) {
  CoveredNodes covered(3);
  covered.make_file(0, "new");
  const NameChange change = {NameOp::make_directory, 0711, "new", ""};
  step(covered, killed, change);
  finish(covered, IntentKind::making, change);
  EXPECT_EQ(covered.mode(killed, "new"), 0U);
  EXPECT_EQ(covered.mode(2, "new"), 0U);
  EXPECT_EQ(covered.mode(0, "new"), S_IFREG | 0600U);
  drain_all(covered);
}

TEST(Undertakings, RemovingADirectoryIsDoneEverywhereOrNowhere) {
  const NameChange change = {NameOp::remove_directory, S_IFDIR | 0750, "directory", ""};
  for (const bool finishes : {true, false}) {
    CoveredNodes covered(3);
    with_names(covered);
    if (finishes) {
      finish(covered, IntentKind::removing_directory, change);
      EXPECT_EQ(covered.mode("directory"), S_IFDIR | 0750U);
    }
    step(covered, killed, change);
    if (finishes) {
      finish(covered, IntentKind::removing_directory, change);
      EXPECT_EQ(covered.mode("directory"), 0U);
    }
    drain_all(covered);
    EXPECT_EQ(is_in_lower(covered, "directory"), !finishes);
  }
  // Somebody has used it where it still was.
  CoveredNodes covered(3);
  with_names(covered);
  step(covered, killed, change);
  covered.make_file(0, "directory/file");
  finish(covered, IntentKind::removing_directory, change);
  EXPECT_EQ(covered.mode("directory"), S_IFDIR | 0750U);
  drain_all(covered);
  EXPECT_TRUE(is_in_lower(covered, "directory/file"));
}

TEST(Undertakings, RemovingIsDoneEverywhereOrNowhere) {
  for (const char* path : {"link", "before"})
    for (const bool finishes : {true, false}) {
      SCOPED_TRACE(path);
      CoveredNodes covered(3, 64 << 20, fill_lower);
      with_names(covered);
      for (uint32_t node = 0; node < 3; ++node) EXPECT_NE(covered.mode(node, path), 0U);
      const NameChange change = {NameOp::forget, 0, path, ""};
      const file::Seen it = seen(covered, path);
      finish(covered, IntentKind::removing, change, it);
      EXPECT_NE(covered.mode(path), 0U);
      ASSERT_EQ(cairn_unlink(covered.pool(killed), covered.top(killed), path), 0);
      // Another one of the name is none of it.
      if (finishes) {
        covered.make_file(killed, path);
        finish(covered, IntentKind::removing, change, it);
        EXPECT_EQ(covered.mode(0, path), 0U);
        EXPECT_EQ(covered.mode(2, path), 0U);
        EXPECT_EQ(covered.mode(killed, path), S_IFREG | 0600U);
      }
      drain_all(covered);
    }
}

TEST(Undertakings, AttributesAreSetEverywhere) {
  CoveredNodes covered(3);
  with_names(covered);
  file::Remote::Change to;
  to.mode = 0700;
  const NameChange change = cluster::set_attributes("directory", to);
  step(covered, killed, change);
  finish(covered, IntentKind::setting_attributes, change);
  EXPECT_EQ(covered.mode("directory"), S_IFDIR | 0700U);
  drain_all(covered);
}

TEST(Undertakings, AFileThatWasClaimedIsAskedForByAll) {
  CoveredNodes covered(3, 64 << 20, fill_lower);
  const NameChange change = {NameOp::claim, 0, "before", ""};
  EXPECT_EQ(covered.mode("before") & S_IFMT, static_cast<uint32_t>(S_IFREG));
  // Not begun.
  finish(covered, IntentKind::claiming, change);
  EXPECT_EQ(covered.mode("before") & S_IFMT, static_cast<uint32_t>(S_IFREG));
  file::Remote::Change same;
  same.mode = 0644;
  step(covered, killed, cluster::set_attributes("before", same));
  finish(covered, IntentKind::claiming, change);
  EXPECT_EQ(covered.mode(0, "before"), 0U);
  cairn_stat st = {};
  EXPECT_EQ(cairn_shared_stat_ordinary(covered.job(0), "before", &st), 0);
  drain_all(covered);
  EXPECT_TRUE(is_in_lower(covered, "before"));
}

TEST(Undertakings, AFileThatWasMovedIsUnderItsNewNameOnly) {
  for (const bool finishes : {true, false}) {
    CoveredNodes covered(3, 64 << 20, fill_lower);
    EXPECT_EQ(covered.mode("before") & S_IFMT, covered.mode("other") & S_IFMT);
    covered.make_file(2, "new");
    const NameChange change = {NameOp::rename, 0, "before", "other"};
    const file::Seen it = seen(covered, "before");
    finish(covered, IntentKind::moving_file, change, it);
    EXPECT_NE(covered.mode("before"), 0U);
    ASSERT_EQ(cairn_rename(covered.pool(killed), covered.top(killed), "before", covered.top(killed),
                           "other", 0),
              0);
    if (finishes) {
      finish(covered, IntentKind::moving_file, change, it);
      for (const uint32_t node : {0U, 2U}) {
        EXPECT_EQ(covered.mode(node, "before"), 0U);
        EXPECT_EQ(covered.mode(node, "other"), 0U);
      }
    }
    drain_all(covered);
    EXPECT_FALSE(is_in_lower(covered, "before"));
    std::string text;
    std::getline(std::ifstream(covered.directory() + "/other"), text);
    EXPECT_EQ(text, "before");
  }
}

// Long after that process died, before somebody takes its lock.
TEST(Undertakings, WhatOthersHaveMadeSinceStays) {
  for (const bool removed : {false, true}) {
    CoveredNodes covered(3, 64 << 20, fill_lower);
    const NameChange change = {NameOp::rename, 0, "before", "other"};
    const file::Seen it = seen(covered, "before");
    for (uint32_t node = 0; node < 3; ++node) EXPECT_NE(covered.mode(node, "other"), 0U);
    ASSERT_EQ(cairn_rename(covered.pool(killed), covered.top(killed), "before", covered.top(killed),
                           "other", 0),
              0);
    if (removed) {
      ASSERT_EQ(cairn_unlink(covered.pool(killed), covered.top(killed), "other"), 0);
    }
    for (const char* path : {"before", "other"}) {
      cairn_file* file = nullptr;
      ASSERT_EQ(cairn_open(covered.pool(2), covered.top(2), path, O_RDWR | O_CREAT, 0600, &file),
                0);
      ASSERT_EQ(cairn_pwrite(file, "newest", 6, 0), 6);
      ASSERT_EQ(cairn_close(file), 0);
    }
    finish(covered, IntentKind::moving_file, change, it);
    for (const char* path : {"before", "other"})
      EXPECT_EQ(covered.mode(2, path) & S_IFMT, static_cast<uint32_t>(S_IFREG)) << path;
    EXPECT_EQ(covered.mode(0, "other") == 0, !removed);
  }
}

}  // namespace
}  // namespace cairn::test
