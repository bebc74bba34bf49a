#include "checkpoint/run/excused_restart.h"

#include <gtest/gtest.h>

#include "checkpoint/run/run_words.h"
#include "support/fresh_pool.h"

namespace cairn::checkpoint {
namespace {

class ExcusedRestartTest : public file::FreshPool {
 protected:
  void SetUp() override {
    auto opened = SetFile::open_or_make(*fs, "field", Uuid{1});
    ASSERT_TRUE(opened.ok()) << last_detail();
    set_ = std::move(*opened);
    // Any word of the set's will do.
    const auto found = set_->word(set_due_offset);
    ASSERT_TRUE(found.ok()) << last_detail();
    word_ = *found;
    count_attempt(fs->pool, word_, run_);
    ASSERT_EQ(attempts_in(word_->load()), 1U);
  }
  const uint32_t run_ = 77;
  std::unique_ptr<SetFile> set_;
  persist::Word* word_ = nullptr;
};

TEST_F(ExcusedRestartTest, DoesNotCountOnceTheSignalHasCome) {
  ExcusedRestart excused;
  excused.set(&fs->pool, word_, run_);
  EXPECT_EQ(attempts_in(word_->load()), 1U) << "no signal has come";
  ExcusedRestart::note_signal();
  EXPECT_EQ(attempts_in(word_->load()), 0U);
}

TEST_F(ExcusedRestartTest, CountsIfTheContextHasEndedOrAnotherRunRestartedLast) {
  {
    ExcusedRestart excused;
    excused.set(&fs->pool, word_, run_ + 1);
    ExcusedRestart::note_signal();
    EXPECT_EQ(attempts_in(word_->load()), 1U);
    excused.set(&fs->pool, word_, run_);
    excused.clear();
  }
  ExcusedRestart::note_signal();
  EXPECT_EQ(attempts_in(word_->load()), 1U);
}

// The seventeenth is not excused, and is no error.
TEST_F(ExcusedRestartTest, AFewContextsOfOneProcessAreExcused) {
  std::vector<std::unique_ptr<ExcusedRestart>> all;
  for (int i = 0; i < 17; ++i) {
    all.push_back(std::make_unique<ExcusedRestart>());
    all.back()->set(&fs->pool, word_, run_);
  }
  all.erase(all.begin(), all.begin() + 16);
  ExcusedRestart::note_signal();
  EXPECT_EQ(attempts_in(word_->load()), 1U);
  all.back()->set(&fs->pool, word_, run_);
  ExcusedRestart::note_signal();
  EXPECT_EQ(attempts_in(word_->load()), 0U);
}

}  // namespace
}  // namespace cairn::checkpoint
