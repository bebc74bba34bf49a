#include "checkpoint/session/lower_copies.h"

#include <gtest/gtest.h>

#include "checkpoint/redundancy/restore_set.h"
#include "checkpoint/versions/drop.h"
#include "support/run_on_pool.h"

namespace cairn::checkpoint {
namespace {

class LowerCopiesTest : public RunOnPool {
 protected:
  void SetUp() override {
    begin(lower_.path());
    copies_.emplace(run(), &view, &*writer, LowerOptions{lower_.path(), {2, false}}, 0);
  }
  void TearDown() override {
    copies_.reset();
    end();
  }
  // Returns the sequences that lower lists.
  std::vector<uint64_t> in_lower() {
    const auto set = LowerSet::open(lower_.path(), "field", false);
    if (!set.ok()) return {};
    const auto versions = set->versions();
    return versions.ok() ? *versions : std::vector<uint64_t>();
  }

  LowerDirectory lower_;
  std::optional<LowerCopies> copies_;
};

TEST_F(LowerCopiesTest, CopiesAVersionOnDemandAndKeepsAsManyAsWanted) {
  EXPECT_TRUE(copies_->has_directory());
  const uint64_t first = write(1);
  ASSERT_TRUE(copies_->copy(first).ok()) << last_detail();
  EXPECT_EQ(in_lower(), std::vector<uint64_t>{first});
  ASSERT_TRUE(copies_->copy(first).ok()) << "a copy that is there stays";
  const uint64_t second = write(2);
  ASSERT_TRUE(copies_->copy(second).ok()) << last_detail();
  const uint64_t third = write(3);
  ASSERT_TRUE(copies_->copy(third).ok()) << last_detail();
  EXPECT_EQ(in_lower(), (std::vector<uint64_t>{second, third}));
  EXPECT_EQ(copies_->copy(first).code(), ENOENT) << "the pool has retired it";
}

TEST_F(LowerCopiesTest, TheNewestVersionIsCopiedWhenTheRunEnds) {
  EXPECT_TRUE(copies_->copy_newest(true).ok()) << "there is none";
  write(1);
  const uint64_t newest = write(2);
  EXPECT_TRUE(copies_->copy_newest(false).ok());
  EXPECT_TRUE(in_lower().empty()) << "this rank had another error";
  ASSERT_TRUE(copies_->copy_newest(true).ok()) << last_detail();
  EXPECT_EQ(in_lower(), std::vector<uint64_t>{newest});
}

TEST_F(LowerCopiesTest, AFailureNamesLower) {
  write(1);
  lower_.remove();
  EXPECT_EQ(copies_->copy_newest(true).code(), ENOENT);
  EXPECT_EQ(std::string(last_detail()).find("options.lower: "), 0U) << last_detail();
}

TEST_F(LowerCopiesTest, TheSequencesOfTheRunAreItsOwn) {
  EXPECT_FALSE(copies_->used().has(1));
  const uint64_t sequence = write(1);
  EXPECT_TRUE(copies_->used().has(sequence));
  EXPECT_FALSE(copies_->used().has(sequence + 1));
}

// A pool that has lost the set gets it back with its uuid when a run begins.
TEST_F(LowerCopiesTest, ARunThatBeginsGetsTheNewestVersionBack) {
  const uint64_t sequence = write(1);
  ASSERT_TRUE(copies_->copy(sequence).ok()) << last_detail();
  const std::string uuid(reinterpret_cast<const char*>(view.set().record().set), 16);
  TearDown();
  ASSERT_TRUE(drop_set(view.set(), view.slot_cache(), true).ok()) << last_detail();
  begin(lower_.path());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(view.set().record().set), 16), uuid);
  EXPECT_EQ(view.look_for({}), nullptr);
  const auto skipped =
      restore_at_begin(run(), view.slot_cache(), view.catalogue(), lower_.path(), false);
  ASSERT_TRUE(skipped.ok()) << last_detail();
  EXPECT_EQ(skipped->newer_than(0), 0U);
  ASSERT_NE(view.look_for(1), nullptr);
  EXPECT_EQ(view.look_for(1)->version.sequence, sequence);
  EXPECT_EQ(run()->last_sequence(), sequence);
}

}  // namespace
}  // namespace cairn::checkpoint
