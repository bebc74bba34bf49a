#include "checkpoint/store/attempts.h"

#include <gtest/gtest.h>

#include "checkpoint/store/records.h"
#include "support/fresh_pool.h"

namespace cairn::checkpoint {
namespace {

class Attempts : public file::FreshPool {
 protected:
  void SetUp() override {
    file::FreshPool::SetUp();
    auto made = SetFile::open_or_make(*fs, "field", Uuid{1});
    ASSERT_TRUE(made.ok()) << last_detail();
    set_ = std::move(*made);
    const auto word = set_->word(set_due_offset);  // any word of a pool
    ASSERT_TRUE(word.ok());
    word_ = *word;
  }
  void count(uint32_t run) { count_attempt(fs->pool, word_, run); }
  void end(uint32_t run, RunEnd how) { note_end(fs->pool, word_, run, how); }
  [[nodiscard]] uint32_t counted() const { return attempts_in(word_->load()); }

  std::unique_ptr<SetFile> set_;
  persist::Word* word_ = nullptr;
};

TEST_F(Attempts, CountEachRunOnce) {
  for (const uint32_t run : {7U, 7U, 8U}) count(run);
  EXPECT_EQ(counted(), 2U);
  EXPECT_EQ(attempts_before(word_->load(), 8), 1U);
  EXPECT_EQ(attempts_before(word_->load(), 9), 2U);
}

TEST_F(Attempts, DoNotCountARunThatWasEndedFromOutside) {
  count(7);
  count(8);
  for (int i = 0; i < 3; ++i) end(8, RunEnd::from_outside);
  EXPECT_EQ(counted(), 1U);
  count(9);
  EXPECT_EQ(counted(), 2U);
  end(8, RunEnd::from_outside);
  EXPECT_EQ(counted(), 2U) << "8 is not the last one";
}

TEST_F(Attempts, CountARunOfWhichAProcessCrashed) {
  for (const bool crash_first : {true, false}) {
    fs->pool.store_flush(*word_, 0);
    count(7);
    end(7, crash_first ? RunEnd::by_itself : RunEnd::from_outside);
    end(7, crash_first ? RunEnd::from_outside : RunEnd::by_itself);
    EXPECT_EQ(counted(), 1U);
  }
}

TEST_F(Attempts, OfAConfirmedRestartStayZero) {
  count(7);
  fs->pool.store_flush(*word_, 0);
  end(7, RunEnd::from_outside);
  EXPECT_EQ(word_->load(), 0U);
}

}  // namespace
}  // namespace cairn::checkpoint
