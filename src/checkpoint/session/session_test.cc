#include "checkpoint/session/session.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/run_on_pool.h"

namespace cairn::checkpoint {
namespace {

class SessionTest : public file::FreshPool {
 protected:
  // Begins a session with a run, which has defined the array.
  std::unique_ptr<CheckpointSession> begin(const SessionOptions& options = {}) {
    auto session = std::make_unique<CheckpointSession>(options);
    EXPECT_TRUE(session->open(fs.get(), "field", nullptr, Status()).ok()) << last_detail();
    EXPECT_TRUE(session->define("t", array_.definition()).ok()) << last_detail();
    return session;
  }
  void write(SessionRun* run, int64_t number) {
    array_.set(number);
    ASSERT_TRUE(run->write(number).ok()) << last_detail();
  }
  // Writes these versions in a run of their own.
  void write_all(const std::vector<int64_t>& numbers) {
    const auto session = begin();
    for (const int64_t number : numbers) write(session->run(), number);
    ASSERT_TRUE(session->close().ok()) << last_detail();
  }
  std::unique_ptr<CheckpointSession> look() {
    auto session = std::make_unique<CheckpointSession>(SessionOptions());
    EXPECT_TRUE(session->open_to_look(*fs, "field").ok()) << last_detail();
    return session;
  }
  Status read(CheckpointSession* session, int64_t number) {
    return session->read(
        [&](VersionReader* reader) { return reader->read_box(number, "t", {}, array_.place()); });
  }

  SampleArray array_;
};

TEST_F(SessionTest, ARunGoesOnFromTheVersionThatTheLastOneWrote) {
  write_all({1, 2});
  const auto session = begin();
  EXPECT_EQ(session->run()->write(3).code(), EEXIST) << "it has not read the versions";
  const auto found = session->run()->test_restart({});
  ASSERT_TRUE(found.ok() && found->has_value()) << last_detail();
  EXPECT_EQ((*found)->known.version.number, 2);
  array_.set(0);
  ASSERT_TRUE(session->run()->restart({}, {}).ok()) << last_detail();
  EXPECT_TRUE(array_.has(2));
  write(session->run(), 3);
  EXPECT_TRUE(session->close().ok());
}

TEST_F(SessionTest, AVersionReachesItsLevelsOneAfterTheOther) {
  const auto session = begin();
  SessionRun* const run = session->run();
  uint64_t sequence = 0;
  ASSERT_TRUE(run->stage(1, &sequence).ok()) << last_detail();
  EXPECT_NE(sequence, 0U);
  EXPECT_TRUE(run->wait(sequence, VersionLevel::staged, 0).ok());
  ASSERT_TRUE(run->wait(sequence, VersionLevel::local, 0).ok()) << last_detail();
  std::optional<LevelProgress> progress;
  const auto is_local = run->test(sequence, VersionLevel::local, &progress);
  ASSERT_TRUE(is_local.ok());
  EXPECT_TRUE(*is_local);
  ASSERT_TRUE(progress.has_value());
  EXPECT_EQ(progress->level, VersionLevel::local);
  EXPECT_EQ(run->wait(sequence, VersionLevel::partner, 0).code(), EINVAL) << "nobody asked";
  EXPECT_EQ(run->wait(sequence, VersionLevel::global, 0).code(), EINVAL) << "there is no lower";
  progress.reset();
  EXPECT_EQ(run->test(sequence + 1, VersionLevel::local, &progress).code(), ENOENT);
  EXPECT_FALSE(progress.has_value());
  EXPECT_TRUE(session->close().ok());
}

TEST_F(SessionTest, LowerGetsAVersionOnDemandAndTheNewestAtTheEnd) {
  const LowerDirectory lower;
  SessionOptions options;
  options.lower = {lower.path(), {2, false}};
  std::vector<std::string> told;
  const auto session = begin(options);
  session->run()->observe([&](uint64_t, int64_t number, const LevelProgress& progress) {
    told.push_back(std::to_string(number) + ":" +
                   std::to_string(static_cast<uint32_t>(progress.level)));
  });
  uint64_t sequence = 0;
  array_.set(1);
  ASSERT_TRUE(session->run()->stage(1, &sequence).ok());
  ASSERT_TRUE(session->run()->wait(sequence, VersionLevel::global, 0).ok()) << last_detail();
  write(session->run(), 2);
  ASSERT_TRUE(session->close().ok()) << last_detail();
  EXPECT_EQ(told, (std::vector<std::string>{"1:1", "1:2", "1:4", "2:1", "2:2", "2:4"}));
  const auto set = LowerSet::open(lower.path(), "field", false);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->versions()->size(), 2U);
}

TEST_F(SessionTest, AVersionWithVariablesOfItsOwnLeavesTheOthersAsTheyWere) {
  const auto session = begin();
  SessionRun* const run = session->run();
  EXPECT_EQ(run->check_collecting().code(), EINVAL);
  EXPECT_EQ(run->commit_collected().code(), EINVAL);
  run->begin_collecting(1);
  ASSERT_TRUE(run->check_collecting().ok());
  SampleArray more(5);
  more.set(9);
  ASSERT_TRUE(run->define("u", more.definition(), true).ok()) << last_detail();
  ASSERT_TRUE(run->commit_collected().ok()) << last_detail();
  EXPECT_EQ(session->undefine("u").code(), ENOENT) << "it was of that version alone";
  write(run, 2);
  const auto read_more = [&](int64_t number) {
    return session->read(
        [&](VersionReader* reader) { return reader->read_box(number, "u", {}, more.place()); });
  };
  EXPECT_TRUE(read_more(1).ok()) << last_detail();
  EXPECT_EQ(read_more(2).code(), ENOENT);
  EXPECT_TRUE(session->close().ok());
}

TEST_F(SessionTest, ASetThatCanNeverHoldTheArraysIsRefusedWhenTheyAreDefined) {
  const auto session = begin();
  Definition large = array_.definition();
  large.whole = large.box = whole_of(1, {uint64_t{1} << 40});
  EXPECT_EQ(session->run()->define("large", large, false).code(), ENOSPC);
  EXPECT_EQ(session->undefine("large").code(), ENOENT);
  // A loop needs room for three versions of 3 MiB in 8 MiB.
  large.whole = large.box = whole_of(1, {uint64_t{3} << 17});
  clear_detail();
  EXPECT_TRUE(session->run()->define("large", large, false).ok());
  EXPECT_EQ(std::string(last_detail()).find("warning: variable 'large'"), 0U) << last_detail();
  EXPECT_TRUE(session->close().ok());
}

TEST_F(SessionTest, NeedSaysWhenAVersionIsDueAndItsStepIsStored) {
  SessionOptions options;
  options.interval_ns = 1;
  const auto session = begin(options);
  write(session->run(), 1);
  EXPECT_EQ(session->view().look_for(1)->version.step, 1) << "need() has said no step";
  usleep(50'000);  // more than a tick of the coarse clock
  const auto is_due = session->run()->need(17);
  ASSERT_TRUE(is_due.ok());
  EXPECT_TRUE(*is_due);
  write(session->run(), 2);
  EXPECT_EQ(session->view().look_for(2)->version.step, 17);
  const auto outlook = session->run()->look_ahead();
  ASSERT_TRUE(outlook.ok());
  EXPECT_EQ(outlook->reason, ExitWatch::none);
  EXPECT_GT(outlook->cost_ns, 0U);
  EXPECT_TRUE(session->close().ok());
}

TEST_F(SessionTest, ARunDropsAnOlderVersion) {
  const auto session = begin();
  write(session->run(), 1);
  write(session->run(), 2);
  EXPECT_EQ(session->run()->drop(2, true).code(), EPERM) << "the newest one stays";
  EXPECT_EQ(session->run()->drop(1, false).code(), EINVAL) << "a run knows no flags";
  EXPECT_EQ(session->run()->drop(7, true).code(), ENOENT);
  ASSERT_TRUE(session->run()->drop(1, true).ok()) << last_detail();
  EXPECT_EQ(session->view().look_for(1), nullptr);
  EXPECT_TRUE(session->close().ok());
}

TEST_F(SessionTest, OneThatLooksReadsAndVerifiesBesideARun) {
  write_all({1, 2});
  const auto session = look();
  EXPECT_EQ(session->run(), nullptr);
  array_.set(0);
  ASSERT_TRUE(read(session.get(), 1).ok()) << last_detail();
  EXPECT_TRUE(array_.has(1));
  const auto verified = session->verify({});
  ASSERT_TRUE(verified.ok()) << last_detail();
  EXPECT_EQ(verified->bad_blocks, 0U);
  EXPECT_GT(verified->bytes, 0U);
  EXPECT_EQ(session->verify(3).code(), ENOENT);
  EXPECT_TRUE(session->define("t", array_.definition()).ok()) << "it only keeps it";
  EXPECT_TRUE(session->undefine("t").ok());
  EXPECT_TRUE(session->close().ok());
}

TEST_F(SessionTest, OneThatLooksDropsVersionsAndTheSet) {
  write_all({1, 2});
  const auto session = look();
  ASSERT_TRUE(read(session.get(), 1).ok());
  ASSERT_TRUE(session->drop(1, false).ok()) << "its own lease does not count: " << last_detail();
  EXPECT_EQ(session->view().look_for(1), nullptr);
  EXPECT_EQ(session->drop(2, false).code(), EPERM) << "the last one";
  EXPECT_TRUE(session->drop_damaged().ok()) << last_detail();
  EXPECT_EQ(session->drop_set(false).code(), EPERM);
  ASSERT_TRUE(session->drop_set(true).ok()) << last_detail();
  EXPECT_EQ(session->view().look_for({}), nullptr);
  SetView view;
  EXPECT_EQ(view.open(*fs, "field").code(), ENOENT);
}

TEST_F(SessionTest, OneThatLooksCopiesToADirectory) {
  write_all({1, 2});
  const LowerDirectory lower;
  const auto session = look();
  const auto missing = session->drain(1, lower.path(), 2);
  ASSERT_TRUE(missing.ok()) << last_detail();
  EXPECT_EQ(*missing, 0U);
  EXPECT_EQ(session->drain(7, lower.path(), 2).code(), ENOENT);
}

TEST_F(SessionTest, DamageNamesTheCommandThatHelps) {
  write_all({1});
  const auto session = look();
  const Status damaged = session->with_way_back(fail(EUCLEAN, "block 3 is damaged"));
  EXPECT_EQ(damaged.code(), EUCLEAN);
  EXPECT_EQ(std::string(last_detail()).find("block 3 is damaged; "), 0U) << last_detail();
  EXPECT_NE(std::string(last_detail()).find("cairn ckpt"), std::string::npos) << last_detail();
  const Status other = session->with_way_back(fail(ENOENT, "no such version"));
  EXPECT_EQ(other.code(), ENOENT);
  EXPECT_STREQ(last_detail(), "no such version");
}

}  // namespace
}  // namespace cairn::checkpoint
