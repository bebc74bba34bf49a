// Shares of files that several nodes write, written to lower while programs run.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>  // RENAME_EXCHANGE too

#include "cairn/adapter/shared.h"
#include "capi/core/handles.h"
#include "cluster/collect/collect_file.h"
#include "cluster/record/record.h"
#include "file/data/io.h"
#include "file/space/room_request.h"
#include "tier/collect_fixture.h"
#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"
#include "tier/record/records_directory.h"
#include "tier/system/pool_file.h"

namespace cairn::test {
namespace {

TEST_F(CollectTest, AShareIsWrittenAhead) {
  const std::string text = make_striped("deep/er/file");
  EXPECT_EQ(ahead(pool_), 10 * stripe);
  EXPECT_EQ(ahead(pool_), 0U) << "there is nothing more to do";
  EXPECT_FALSE(fs::exists(lower_ + "/deep/er/file"));
  // Another node, whose run has ended, does not count it: here a program may still write.
  EXPECT_EQ(drain(other_).code, -EAGAIN);
  EXPECT_FALSE(fs::exists(lower_ + "/deep/er/file"));
  const Drained last = drain(pool_);
  EXPECT_EQ(last.code, 0) << text_of(last);
  EXPECT_EQ(last.report.bytes, 0U);
  EXPECT_EQ(get(lower_ + "/deep/er/file"), text);
  EXPECT_EQ(fs::hard_link_count(lower_ + "/deep/er/file"), 1U);
  EXPECT_EQ(drain(other_).code, 0);
  expect_nothing_left();
}

TEST_F(CollectTest, AllSharesAreWrittenAhead) {
  const std::string text = make_striped("file");
  EXPECT_EQ(ahead(other_), 10 * stripe);
  EXPECT_EQ(ahead(pool_), 10 * stripe);
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
  EXPECT_EQ(drain(pool_).code, -EAGAIN);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/file"), text);
  EXPECT_EQ(drain(pool_).code, 0);
  expect_nothing_left();
}

// In place, and before any commit: the record is the same.
TEST_F(CollectTest, AShareThatHasChangedIsWrittenAgain) {
  for (const bool is_seen_ahead : {false, true}) {
    SCOPED_TRACE(is_seen_ahead);
    const std::string path = is_seen_ahead ? "seen" : "unseen";
    std::string text = make_striped(path);
    EXPECT_EQ(ahead(pool_), 10 * stripe);
    EXPECT_EQ(ahead(other_), 10 * stripe);
    auto record = cluster::read_record(lower_, path);
    ASSERT_TRUE(record.ok());
    text.replace(4 * stripe, stripe, stripe, 'N');
    {
      Covered first(pool_, lower_, true);
      hold(first, "node-0", &*record, text, {4 * stripe, stripe, 0, 1});
    }
    if (is_seen_ahead) {
      EXPECT_EQ(ahead(pool_), 10 * stripe);
    }
    EXPECT_EQ(drain(other_).code, -EAGAIN);
    EXPECT_EQ(drain(pool_).code, 0);
    EXPECT_EQ(get(lower_ + "/" + path), text);
    EXPECT_EQ(drain(other_).code, 0);
  }
  expect_nothing_left();
}

TEST_F(CollectTest, AnOpenPartIsNotWrittenAhead) {
  make_striped("file");
  auto record = cluster::read_record(lower_, "file");
  ASSERT_TRUE(record.ok());
  {
    Covered node(pool_, lower_, true);
    auto& pool = capi::fs_of(node.pool);
    auto inode =
        tier::find_part(pool, tier::cover_name(lower_), cluster::hex_of(record->uuid), false);
    ASSERT_TRUE(inode.ok());
    const tier::PoolFile part(pool, *inode, O_RDWR);
    ASSERT_TRUE(part.status().ok());
    cairn_while_running what = {};
    EXPECT_EQ(ahead(pool_, 0, &what), 0U);
    EXPECT_EQ(what.postponed_files, 1U);
    EXPECT_GE(what.postponed_bytes, 10 * stripe);
  }
  cairn_while_running what = {};
  EXPECT_EQ(ahead(pool_, 3'600'000'000'000, &what), 0U) << "it is not quiet";
  EXPECT_EQ(what.postponed_files, 1U);
  EXPECT_EQ(ahead(pool_, 0, &what), 10 * stripe);
  EXPECT_EQ(what.postponed_files, 0U);
}

// A program that finds the pool full waits for what a keeper drains, and shares make no room.
TEST_F(CollectTest, NoShareIsWrittenAheadWhileACallWaitsForRoom) {
  make_striped("file");
  const Covered node(pool_, lower_, true);
  auto& pool = capi::fs_of(node.pool).pool;
  pool.store(pool.state->room_wanted, pool.state->room_answered.load() + 1);
  EXPECT_EQ(ahead(pool_), 0U);
  file::answer_room(pool, pool.state->room_wanted.load());
  EXPECT_EQ(ahead(pool_), 10 * stripe);
}

// A group that opens the file for writing removes what was put together.
TEST_F(CollectTest, WhatWasWrittenAheadIsForgotten) {
  const std::string text = make_striped("file");
  EXPECT_EQ(ahead(pool_), 10 * stripe);
  ASSERT_TRUE(cluster::forget_collected(lower_, "file").ok());
  const auto is_record = [](const fs::directory_entry& entry) {
    return entry.path().extension() == ".record";
  };
  for (const auto& entry : fs::directory_iterator(lower_ + "/.cairn"))
    EXPECT_TRUE(is_record(entry)) << entry.path();
  EXPECT_EQ(drain(pool_).report.bytes, 10 * stripe);
  EXPECT_EQ(drain(other_).code, 0);
  EXPECT_EQ(get(lower_ + "/file"), text);
}

TEST_F(CollectTest, ANewEpochVoidsWhatWasWrittenAhead) {
  make_striped("file");
  EXPECT_EQ(ahead(pool_), 10 * stripe);
  const std::string text(stripe, 'z');
  auto record = cluster::read_record(lower_, "file");
  ASSERT_TRUE(record.ok());
  ++record->epoch;
  record->size = stripe;
  {
    Covered first(pool_, lower_, true);
    hold(first, "node-0", &*record, text, {0, stripe, 0, 1});
  }
  ASSERT_TRUE(cluster::write_record(lower_, "file", *record, false).ok());
  EXPECT_EQ(ahead(pool_), stripe);
  EXPECT_EQ(drain(pool_).code, 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/file"), text);
  EXPECT_EQ(drain(other_).code, 0);
  expect_nothing_left();
}

// At each call to lower; then the part is written to, or not, and the runs end.
TEST_F(CollectTest, KilledWhileItWritesAhead) {
  bool ended = false;
  for (int last = 1; !ended && !HasFailure(); ++last) {
    SCOPED_TRACE(last);
    std::string text = make_striped("file");
    const pid_t child = fork();
    if (child == 0) {
      set_lower_hook([last, calls = 0](const LowerCall&) mutable {
        if (++calls == last) kill(getpid(), SIGKILL);
        return 0;
      });
      ahead(pool_);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ended = WIFEXITED(status);
    EXPECT_FALSE(fs::exists(lower_ + "/file"));
    if (last % 2 == 0) {
      auto record = cluster::read_record(lower_, "file");
      ASSERT_TRUE(record.ok());
      text.replace(0, stripe, stripe, 'N');
      Covered first(pool_, lower_, true);
      hold(first, "node-0", &*record, text, {0, stripe, 0, 1});
    }
    EXPECT_EQ(drain(pool_).code, -EAGAIN);
    EXPECT_EQ(drain(other_).code, 0);
    EXPECT_EQ(get(lower_ + "/file"), text);
    EXPECT_EQ(drain(pool_).code, 0);
    expect_nothing_left();
    fs::remove(lower_ + "/file");
  }
}

}  // namespace
}  // namespace cairn::test
