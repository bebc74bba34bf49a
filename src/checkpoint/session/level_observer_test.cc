#include "checkpoint/session/level_observer.h"

#include <gtest/gtest.h>

#include "checkpoint/session/lower_copies.h"
#include "support/run_on_pool.h"

namespace cairn::checkpoint {
namespace {

class LevelObserverTest : public RunOnPool {
 protected:
  void SetUp() override {
    begin();
    write(1);
    observer_.emplace(&*writer, &view, &levels_, false, [this](uint64_t sequence, bool decided) {
      return levels_.progress_of(sequence, writer->outcome(sequence), decided, {});
    });
  }
  void TearDown() override { end(); }
  // Sets a callback that notes "NUMBER:LEVEL ".
  void note_all() {
    observer_->set([this](uint64_t, int64_t number, const LevelProgress& progress) {
      told_ += std::to_string(number) + ":" +
               std::to_string(static_cast<uint32_t>(progress.level)) + " ";
    });
  }

  VersionLevels levels_{&view, ""};
  std::optional<LevelObserver> observer_;
  std::string told_;
};

TEST_F(LevelObserverTest, TellsEachLevelOnce) {
  note_all();
  write(2);
  observer_->tell();
  EXPECT_EQ(told_, "2:1 2:2 ");
  observer_->tell();
  EXPECT_EQ(told_, "2:1 2:2 ") << "nothing is new";
  write(3);
  write(4);
  observer_->tell();
  EXPECT_EQ(told_, "2:1 2:2 3:1 4:1 3:2 4:2 ");
}

TEST_F(LevelObserverTest, TellsNothingOfVersionsBeforeTheCallback) {
  write(2);
  note_all();
  observer_->tell();
  EXPECT_EQ(told_, "");
  write(3);
  observer_->set({});
  EXPECT_EQ(told_, "3:1 3:2 ") << "the callback before learns what it would have learned";
  write(4);
  observer_->tell();
  note_all();
  EXPECT_EQ(told_, "3:1 3:2 ");
}

TEST_F(LevelObserverTest, TellsOfCopiesWhenTheyAreMade) {
  const uint64_t sequence = write(2);
  observer_->tell_of_global(sequence);  // without a callback
  note_all();
  observer_->tell_of_partners(sequence);
  EXPECT_EQ(told_, "2:2 ");
  observer_->tell_of_global(sequence);
  EXPECT_EQ(told_, "2:2 2:2 ");
  observer_->tell_of_partners(sequence + 100);
  EXPECT_EQ(told_, "2:2 2:2 ") << "a version that is not known";
}

// An observer of a run whose versions are copied to lower between two calls.
class LevelObserverOfCopies : public LevelObserverTest {
 protected:
  void SetUp() override {
    begin(lower_.path());
    copies_.emplace(run(), &view, &*writer, LowerOptions{lower_.path(), {0, false}}, 0);
    observer_.emplace(&*writer, &view, &of_lower_, true, [this](uint64_t sequence, bool decided) {
      const LevelProgress progress =
          of_lower_.progress_of(sequence, writer->outcome(sequence), decided, {});
      if (decided && after_look_) after_look_();
      return progress;
    });
    note_all();
  }
  void TearDown() override {
    copies_.reset();
    end();
  }

  LowerDirectory lower_;
  VersionLevels of_lower_{&view, lower_.path()};
  std::optional<LowerCopies> copies_;
  std::function<void()> after_look_;
};

TEST_F(LevelObserverOfCopies, TellsOfAllThatWereMadeSinceTheLastCall) {
  const uint64_t first = write(1);
  const uint64_t second = write(2);
  observer_->tell();
  EXPECT_EQ(told_, "1:1 2:1 1:2 2:2 ");
  ASSERT_TRUE(copies_->copy(first).ok()) << last_detail();
  ASSERT_TRUE(copies_->copy(second).ok()) << last_detail();
  told_.clear();
  observer_->tell();
  EXPECT_EQ(told_, "1:4 2:4 ");
  observer_->tell();
  observer_->tell_of_global(first);
  EXPECT_EQ(told_, "1:4 2:4 ") << "each of them once";
}

TEST_F(LevelObserverOfCopies, TellsOfACopyThatWasMadeWhileItTold) {
  const uint64_t sequence = write(1);
  after_look_ = [this, sequence] { ASSERT_TRUE(copies_->copy(sequence).ok()) << last_detail(); };
  observer_->tell();
  after_look_ = {};
  EXPECT_EQ(told_, "1:1 1:2 1:4 ");
}

}  // namespace
}  // namespace cairn::checkpoint
