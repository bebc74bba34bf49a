#include "checkpoint/version/answers.h"

#include "base/coarse_clock.h"
#include "checkpoint/version/patience.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t is_set = 1;
constexpr uint64_t says_yes = 2;
constexpr unsigned step_shift = 3;
constexpr unsigned call_shift = 24;
constexpr uint64_t step_mask = (uint64_t{1} << (call_shift - step_shift)) - 1;

// Ranks look at each other once in so many calls.
constexpr uint64_t calls_between_looks = set_answers / 2;

// Some bits of a step, so that ranks whose steps differ find out.
uint64_t check_of(int64_t step) {
  const auto bits = static_cast<uint64_t>(step) * 0x9e3779b97f4a7c15U;
  return bits >> 40 & step_mask;
}

}  // namespace

// A word is used again after 64 calls. At calls 32, 64, ... all ranks have passed what is used
// again until the next look.
Status Answers::wait_for_the_slowest() {
  if (calls_ <= calls_between_looks) return Status();
  const uint64_t least = calls_ - calls_between_looks;
  Patience patience;
  for (uint32_t rank = 0; rank < run_.ranks();) {
    if (words_.member(rank, RunWords::calls).load() >= least) {
      ++rank;
    } else if (patience.pause() && run_.is_gone(rank) &&
               words_.member(rank, RunWords::calls).load() < least) {
      return fail(EOWNERDEAD, "rank %u was killed, or has left", rank);
    }
  }
  return Status();
}

bool Answers::decide() {
  if (interval_ns_ == 0) return false;
  const uint64_t now = coarse_monotonic_ns();
  const uint64_t due = words_.due().load();
  if (due == 0) {
    note_version();  // counts from the first call
    return false;
  }
  return now >= due;
}

void Answers::note_version() {
  if (interval_ns_ == 0) return;
  const uint64_t now = coarse_monotonic_ns();
  const uint64_t due = now + interval_ns_;
  run_.set().fs().pool.store(words_.due(), due < now ? UINT64_MAX : due);
}

Result<bool> Answers::need(int64_t step) {
  ++calls_;
  pool::Pool& pool = run_.set().fs().pool;
  if (run_.ranks() > 1) {
    pool.store(words_.member(run_.rank(), RunWords::calls), calls_);
    if (calls_ % calls_between_looks == 0) CAIRN_TRY(wait_for_the_slowest());
  }
  persist::Word& word = words_.answer(calls_);
  const uint64_t mine = calls_ << call_shift | check_of(step) << step_shift | is_set;
  uint64_t held = word.load();
  if (held >> call_shift != calls_) {
    const bool is_due = decide();
    const uint64_t answer = mine | (is_due ? says_yes : 0);
    if (pool.compare_exchange(word, held, answer)) {
      if (is_due) note_version();
      held = answer;
    }
  }
  if ((held & ~says_yes) != mine)
    return fail(EINVAL, "need: step %lld at call %llu; another rank says another step",
                static_cast<long long>(step), static_cast<unsigned long long>(calls_));
  return (held & says_yes) != 0;
}

}  // namespace cairn::checkpoint
