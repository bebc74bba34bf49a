#include "checkpoint/session/background_copies.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/fake_transport.h"
#include "support/run_on_pool.h"

namespace cairn::checkpoint {
namespace {

class BackgroundCopiesTest : public RunOnPool {
 protected:
  void SetUp() override { begin(lower_.path()); }
  void TearDown() override {
    copies_.reset();
    end();
  }
  void begin_copying(uint32_t multiple, bool in_background = true) {
    copies_.emplace(run(), &view, &*writer,
                    LowerOptions{lower_.path(), {2, false}, in_background, multiple}, [this] {
                      const uint64_t last = writer->sequence();
                      return UsedSequences{last, last, 0};
                    });
    copies_->begin();
  }
  uint64_t write_and_copy(int64_t number) {
    const uint64_t sequence = stage(number);
    copies_->copy_when_committed(number);
    EXPECT_TRUE(writer->wait(sequence, 0).ok());
    return sequence;
  }
  bool comes_to_lower(uint64_t sequence) {
    for (int looks = 0; looks < 1000; ++looks) {
      const auto is_there = copies_->has_copied(sequence);
      EXPECT_TRUE(is_there.ok()) << last_detail();
      if (*is_there) return true;
      usleep(10'000);
    }
    return false;
  }

  LowerDirectory lower_;
  std::optional<BackgroundCopies> copies_;
};

TEST_F(BackgroundCopiesTest, AVersionIsCopiedOnceItIsCommitted) {
  begin_copying(0);
  const uint64_t sequence = write_and_copy(1);
  EXPECT_TRUE(comes_to_lower(sequence));
  EXPECT_EQ(copies_->error_of(sequence), 0);
  EXPECT_TRUE(copies_->status_of(sequence).ok());
}

TEST_F(BackgroundCopiesTest, OnlyMultiplesAreCopied) {
  begin_copying(5);
  const uint64_t fourth = write_and_copy(4);
  const uint64_t fifth = write_and_copy(5);
  EXPECT_TRUE(comes_to_lower(fifth));
  const auto other = copies_->has_copied(fourth);
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(*other);
}

TEST_F(BackgroundCopiesTest, AFailureIsSaidOfItsVersionUntilTheCopyIsMade) {
  begin_copying(0);
  lower_.remove();
  const uint64_t sequence = write_and_copy(1);
  for (int looks = 0; looks < 1000 && copies_->error_of(sequence) == 0; ++looks) usleep(10'000);
  EXPECT_EQ(copies_->error_of(sequence), ENOENT);
  EXPECT_EQ(copies_->error_of(sequence + 1), 0);
  EXPECT_EQ(copies_->status_of(sequence).code(), ENOENT);
  EXPECT_EQ(std::string(last_detail()).find("level GLOBAL: "), 0U) << last_detail();
}

TEST_F(BackgroundCopiesTest, APauseKeepsTheThreadFromCopying) {
  begin_copying(0);
  uint64_t sequence = 0;
  {
    const BackgroundCopies::Pause pause(&*copies_, 1);
    sequence = write_and_copy(1);
    usleep(50'000);
    const auto is_there = copies_->has_copied(sequence);
    ASSERT_TRUE(is_there.ok());
    EXPECT_FALSE(*is_there);
  }
  EXPECT_TRUE(comes_to_lower(sequence));
}

TEST_F(BackgroundCopiesTest, WithoutTheOptionThereIsNoThread) {
  begin_copying(0, false);
  const uint64_t sequence = write_and_copy(1);
  copies_->forget(sequence);
  const BackgroundCopies::Pause pause(&*copies_, sequence);
  const auto is_there = copies_->has_copied(sequence);
  ASSERT_TRUE(is_there.ok());
  EXPECT_FALSE(*is_there);
  EXPECT_EQ(copies_->has_copied(sequence + 1).code(), ENOENT);
}

// A leader of two nodes may still have to decide when its thread has ended.
TEST_F(BackgroundCopiesTest, AVersionThatIsDecidedAfterTheEndIsNotCopied) {
  FakeTransport::Job job;
  job.nodes = 2;
  SetView other_view;
  JoinedRun other(&other_view);
  ASSERT_TRUE(other
                  .open({"other", fs.get(), {}, lower_.path(), {}},
                        std::make_unique<FakeTransport>(&job), Status())
                  .ok())
      << last_detail();
  other.keep();
  Writer other_writer(other.run(), other_view.slot_cache(), other_view.catalogue(), Retention{2});
  BackgroundCopies copies(other.run(), &other_view, &other_writer,
                          LowerOptions{lower_.path(), {2, false}, true, 0},
                          [] { return UsedSequences(); });
  copies.begin();
  copies.end();
  SharedContents its;
  Definition replicated = array.definition();
  replicated.kind = DecompositionKind::replicated;
  its.definitions().put("t", std::move(replicated));
  ASSERT_TRUE(its.agree(other.run(), 0, 0).ok()) << last_detail();
  const uint64_t sequence = other_writer.write(its.agreed(), its.definitions(), {});
  ASSERT_TRUE(other_writer.wait(sequence, 0).ok()) << last_detail();
  EXPECT_EQ(copies.error_of(sequence), 0);
  EXPECT_TRUE(other.end(true).ok()) << last_detail();
}

}  // namespace
}  // namespace cairn::checkpoint
