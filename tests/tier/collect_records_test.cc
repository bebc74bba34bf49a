// Parts and the records that name them: which part is garbage, and what keeps one.
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>  // RENAME_EXCHANGE too

#include "cairn/adapter/shared.h"
#include "capi/core/handles.h"
#include "cluster/collect/collect_file.h"
#include "cluster/record/record.h"
#include "file/data/io.h"
#include "file/namespace/names.h"
#include "tier/collect_fixture.h"
#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"
#include "tier/record/records_directory.h"
#include "tier/system/pool_file.h"

namespace cairn::test {
namespace {

// A job on one node had made it an ordinary file of the cover, and was killed before it could
// remove the record.
TEST_F(CollectTest, APartThatHasANameInTheCoverIsDrainedAsAFile) {
  Record record = new_record(3);
  {
    Covered first(pool_, lower_);
    hold(first, "node-0", &record, "abc", {0, 3, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "file", record, true).ok());
    auto& pool = capi::fs_of(first.pool);
    auto inode =
        tier::find_part(pool, tier::cover_name(lower_), cluster::hex_of(record.uuid), false);
    ASSERT_TRUE(inode.ok());
    ASSERT_EQ(first.list("."), std::vector<std::string>());
    ASSERT_TRUE(file::link_inode(pool, *inode, first.top, "file").ok()) << last_detail();
  }
  expect_drained(pool_);
  EXPECT_EQ(get(lower_ + "/file"), "abc");
  EXPECT_TRUE(has_no_records());
  EXPECT_EQ(parts_in(pool_), 0U);
}

TEST_F(CollectTest, PartsOfNoRecordGo) {
  make_striped("file");
  ASSERT_TRUE(cluster::remove_record(lower_, "file").ok());
  EXPECT_EQ(drain(pool_).code, 0);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
  expect_nothing_left();
}

// Somebody has removed them all: no part is garbage because of that, also after new records have
// come.
TEST_F(CollectTest, RecordsThatWereRemovedWithTheirDirectoryCostNoPart) {
  make_striped("file");
  fs::remove_all(lower_ + "/.cairn");
  for (const char* again : {"", "with a new record"}) {
    SCOPED_TRACE(again);
    const Drained drained = drain(pool_);
    EXPECT_EQ(drained.code, -EIO);
    EXPECT_TRUE(tells(drained, "1 parts of files that several nodes wrote stay in the pool"))
        << text_of(drained);
    EXPECT_EQ(parts_in(pool_), 1U);
    fs::create_directory(lower_ + "/.cairn");
  }
  // What a record names is put together all the same.
  Record record = new_record(3);
  {
    Covered first(pool_, lower_);
    hold(first, "node-0", &record, "abc", {0, 3, 0, 1});
    ASSERT_TRUE(cluster::write_record(lower_, "other", record, true).ok());
  }
  EXPECT_EQ(drain(pool_).code, -EIO);
  EXPECT_EQ(get(lower_ + "/other"), "abc");
  EXPECT_EQ(parts_in(pool_), 1U);
  {
    Covered node(pool_, lower_, true);
    EXPECT_EQ(cairn_cover_end(node.cover), -EAGAIN);
    EXPECT_EQ(node.discard(), 0) << cairn_last_error();
  }
  EXPECT_EQ(parts_in(pool_), 0U);
}

TEST_F(CollectTest, TheDirectoryOfTheRecordsGoesWithTheLastClaim) {
  const std::string text = make_striped("file");
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  EXPECT_EQ(drain(other_).code, 0);
  for (const std::string& pool : {pool_, other_}) {
    EXPECT_TRUE(fs::exists(lower_ + "/.cairn"));
    expect_drained(pool);
    Covered node(pool, lower_, true);
    EXPECT_EQ(cairn_cover_end(node.cover), 0) << cairn_last_error();
    node.cover = nullptr;
  }
  EXPECT_FALSE(fs::exists(lower_ + "/.cairn"));
  EXPECT_EQ(get(lower_ + "/file"), text);
}

TEST_F(CollectTest, ADamagedRecordCostsNoPart) {
  make_striped("file");
  put(cluster::record_path(lower_, "file"), "no record at all");
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, lower_ + "/.cairn/file.record"));
  EXPECT_EQ(parts_in(pool_), 1U);
}

// `chmod -R g+w` of what lies in it does so, and the directory of the records still counts.
TEST_F(CollectTest, ARecordThatOthersCanWriteToCostsNoPart) {
  const std::string text = make_striped("sub/file");
  make_striped("other");
  for (const auto& [name, mode] : {std::pair{"sub", 0700U}, {"sub/file.record", 0600U}}) {
    SCOPED_TRACE(name);
    const std::string path = lower_ + "/.cairn/" + name;
    ASSERT_EQ(chmod(path.c_str(), mode | S_IWGRP), 0);
    clean_by_job();
    const Drained drained = drain(pool_);
    EXPECT_EQ(drained.code, -EIO);
    EXPECT_TRUE(tells(drained, path + ": ignored: it has mode 0" + (mode == 0700U ? "72" : "62") +
                                   "0: other users can write to it"))
        << text_of(drained);
    EXPECT_TRUE(tells(drained, "chmod -R go-w " + lower_ + "/.cairn"));
    EXPECT_TRUE(tells(drained, "1 parts of files that several nodes wrote stay in the pool"));
    EXPECT_EQ(parts_in(pool_), 2U);
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  }
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/sub/file"), text);
  EXPECT_EQ(drain(pool_).code, 0);
  expect_nothing_left();
}

// Of a file of which no node holds bytes, too.
TEST_F(CollectTest, ARecordThatOthersCanWriteToIsNotDrained) {
  ASSERT_TRUE(cluster::write_record(lower_, "holes", new_record(100), true).ok());
  { const Covered first(pool_, lower_); }
  const std::string path = lower_ + "/.cairn/holes.record";
  ASSERT_EQ(chmod(path.c_str(), 0660), 0);
  EXPECT_EQ(drain(pool_).code, -EIO);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_NO_FATAL_FAILURE(expect_drained(pool_));
  EXPECT_EQ(fs::file_size(lower_ + "/holes"), 100U);
}

void exchange_names(const std::string& a, const std::string& b) {
  ASSERT_EQ(renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE), 0);
}

// Others can do so where they can write to the covered directory. One that a drain still writes to
// is a closed directory of the user's, as that of the records is.
TEST_F(CollectTest, AnUnfinishedDirectoryIsNotThatOfTheRecords) {
  ASSERT_EQ(chmod(lower_.c_str(), 0777), 0);
  const std::string text = make_striped("file");
  {
    Covered first(pool_, lower_, true);
    ASSERT_EQ(cairn_mkdir(first.pool, first.top, "results", 0755), 0);
    ASSERT_EQ(first.create("results/file", "text"), 0);
  }
  const int ended = drain_elsewhere(pool_, [](const LowerCall& call) {
    if (call.number == SYS_renameat2 && names(call.arguments[0], "/results"))
      kill(getpid(), SIGKILL);
    return 0;
  });
  ASSERT_EQ(ended, -1);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/results").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 05700U);
  ASSERT_NO_FATAL_FAILURE(exchange_names(lower_ + "/results", lower_ + "/.cairn"));
  clean_by_job();
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, "1 parts of files that several nodes wrote stay in the pool"))
      << text_of(drained);
  EXPECT_EQ(parts_in(pool_), 1U);
  EXPECT_EQ(parts_in(other_), 1U);
}

// Somebody who can rename it puts another one of the user's in its place, as that of another cover.
TEST_F(CollectTest, TheRecordsOfAnotherCoverSayNothingAboutParts) {
  ASSERT_EQ(chmod(lower_.c_str(), 0777), 0);
  const std::string text = make_striped("file");
  for (const std::string& pool : {pool_, other_}) note_records(pool);
  const std::string other = disk_.path("other-records");
  fs::create_directories(other);
  ASSERT_EQ(chmod(other.c_str(), 01700), 0);
  ASSERT_NO_FATAL_FAILURE(exchange_names(other, lower_ + "/.cairn"));
  clean_by_job();
  const Drained drained = drain(pool_);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_TRUE(tells(drained, "1 parts of files that several nodes wrote stay in the pool"))
      << text_of(drained);
  EXPECT_EQ(parts_in(pool_), 1U);
  ASSERT_NO_FATAL_FAILURE(exchange_names(other, lower_ + "/.cairn"));
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/file"), text);
  EXPECT_EQ(drain(pool_).code, 0);
  expect_nothing_left();
}

TEST_F(CollectTest, TheDirectoryIsExchangedAtAnyCall) {
  const std::string second = disk_.path("second");
  fs::create_directories(second + "/.cairn");
  ASSERT_EQ(chmod((second + "/.cairn").c_str(), 01700), 0);
  { const Covered covered(pool_, second); }
  const std::string text = make_striped("file");
  int seen = 0;
  for (int n = 0; n <= seen && !HasFailure(); ++n) {
    SCOPED_TRACE("call " + std::to_string(n));
    seen = 0;
    {
      Covered node(pool_, lower_, true);
      set_lower_hook([&](const LowerCall&) {
        if (seen++ == n) exchange_names(lower_, second);
        return 0;
      });
      node.drain();
      set_lower_hook(nullptr);
    }
    if (seen > n) exchange_names(lower_, second);
    ASSERT_EQ(parts_in(pool_), 1U);
  }
  EXPECT_GT(seen, 20);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/file"), text);
}

TEST_F(CollectTest, ADamagedRecordLetsAJobBeginAndCostsNoPart) {
  make_striped("file");
  put(cluster::record_path(lower_, "file"), "no record at all");
  clean_by_job();
  EXPECT_EQ(parts_in(pool_), 1U);
}

TEST_F(CollectTest, ACoverWithPartsDoesNotEnd) {
  make_striped("file");
  Covered node(pool_, lower_, true);
  EXPECT_EQ(cairn_cover_end(node.cover), -EAGAIN);
}

TEST_F(CollectTest, DiscardingOnOneNodeEndsTheFile) {
  make_striped("file");
  put(lower_ + "/other", "x");
  {
    Covered node(pool_, lower_, true);
    EXPECT_EQ(node.discard(), 0) << cairn_last_error();
  }
  EXPECT_EQ(drain(other_).code, 0) << cairn_last_error();
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
  EXPECT_EQ(get(lower_ + "/other"), "x");
  expect_nothing_left();
}

}  // namespace
}  // namespace cairn::test
