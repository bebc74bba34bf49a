#include "checkpoint/run/due_vote.h"

#include <algorithm>

#include "base/coarse_clock.h"
#include "checkpoint/run/spin_wait.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t is_set = 1;
constexpr uint64_t says_yes = 2;
constexpr unsigned step_shift = 3;
constexpr unsigned call_shift = 24;
constexpr uint64_t step_mask = (uint64_t{1} << (call_shift - step_shift)) - 1;
// Replaces the check of a step at calls whose answers nodes exchange.
constexpr uint64_t says_fault = uint64_t{1} << step_shift;

// Ranks check on each other once in so many calls.
constexpr uint64_t calls_between_looks = set_answers / 2;

// Returns some bits of a step, by which ranks with different steps detect it.
uint64_t check_of(int64_t step) {
  const auto bits = static_cast<uint64_t>(step) * 0x9e3779b97f4a7c15U;
  return bits >> 40 & step_mask;
}

}  // namespace

// Waits before words are reused: a word is used again after 64 calls. At calls 32, 64, ... all
// ranks have passed the words that are reused until the next check.
Status DueVote::wait_for_the_slowest() {
  if (calls_ <= calls_between_looks) return Status();
  // An answer may, with several nodes, be stored `lag` calls ahead.
  const uint64_t least = calls_ - calls_between_looks + (run_.exchange() == nullptr ? 0 : lag);
  SpinWait spin;
  for (uint32_t rank = 0; rank < run_.ranks();) {
    if (words_.member(rank, RunWords::calls).load() >= least) {
      ++rank;
    } else if (spin.pause() && run_.is_gone(rank) &&
               words_.member(rank, RunWords::calls).load() < least) {
      return fail(EOWNERDEAD, "rank %u was killed, or has left", run_.number_of(rank));
    } else if (run_.exchange() != nullptr && run_.is_leader() && work_) {
      work_().ignore();  // waiters for the version get its error
    }
  }
  return Status();
}

bool DueVote::decide() {
  if (interval_ns_ == 0) return false;
  const uint64_t now = coarse_monotonic_ns();
  const uint64_t due = words_.due().load();
  if (due == 0) {
    note_version();  // the interval starts at the first call
    return false;
  }
  return now >= due;
}

void DueVote::note_version() {
  if (interval_ns_ == 0) return;
  const uint64_t now = coarse_monotonic_ns();
  const uint64_t due = now + interval_ns_;
  run_.set().fs().pool.store(words_.due(), due < now ? UINT64_MAX : due);
}

Result<bool> DueVote::need(int64_t step) {
  ++calls_;
  pool::Pool& pool = run_.set().fs().pool;
  if (run_.ranks() > 1) {
    pool.store(words_.member(run_.rank(), RunWords::calls), calls_);
    if (calls_ % calls_between_looks == 0) CAIRN_TRY(wait_for_the_slowest());
  }
  return run_.exchange() == nullptr ? need_of_node(step) : need_of_nodes(step);
}

Result<bool> DueVote::need_of_node(int64_t step) {
  pool::Pool& pool = run_.set().fs().pool;
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
    return fail(EINVAL, "need: step %lld at call %llu; another rank has another step",
                static_cast<long long>(step), static_cast<unsigned long long>(calls_));
  return (held & says_yes) != 0;
}

// Answers a call. Between the calls at which nodes exchange, the answer is no, and steps are
// compared as on one node.
Result<bool> DueVote::need_of_nodes(int64_t step) {
  const bool leads = run_.is_leader();
  // An error of the version must not keep this leader from telling the others.
  if (leads && work_) work_().ignore();
  const bool is_point = calls_ % lag == 0;
  if (leads && is_gathering_) CAIRN_TRY(is_point ? finish() : test_gather().status());
  if (!is_point) {
    pool::Pool& pool = run_.set().fs().pool;
    const uint64_t mine = calls_ << call_shift | check_of(step) << step_shift | is_set;
    persist::Word& word = words_.answer(calls_);
    uint64_t held = word.load();
    if (held >> call_shift != calls_ && pool.compare_exchange(word, held, mine)) held = mine;
    if (held != mine)
      return fail(EINVAL, "need: step %lld at call %llu; another rank has another step",
                  static_cast<long long>(step), static_cast<unsigned long long>(calls_));
    return false;
  }
  if (leads && calls_ == lag) say(calls_, 0);  // there is no earlier result
  if (leads) CAIRN_TRY(begin_gather(step));
  SpinWait spin;
  for (bool looks = true; words_.answer(calls_).load() >> call_shift != calls_;) {
    if (looks && run_.is_gone(0) && words_.answer(calls_).load() >> call_shift != calls_)
      return fail(EOWNERDEAD, "rank %u was killed, or has left", run_.number_of(0));
    looks = spin.pause();
  }
  const uint64_t answer = words_.answer(calls_).load();
  if ((answer & says_fault) != 0)
    return fail(EINVAL, "need: nodes asked with different steps %llu calls ago",
                static_cast<unsigned long long>(lag));
  return (answer & says_yes) != 0;
}

void DueVote::say(uint64_t call, uint64_t answer) {
  run_.set().fs().pool.store(words_.answer(call), call << call_shift | is_set | answer);
}

Status DueVote::begin_gather(int64_t step) {
  wish_ = {calls_, check_of(step), decide() ? 1U : 0U};
  wishes_.resize(run_.nodes());
  CAIRN_TRY(
      run_.exchange()->begin_gather(Exchange::Channel::need, &wish_, sizeof wish_, wishes_.data()));
  is_gathering_ = true;
  return Status();
}

// Returns true if no gather is in progress.
Result<bool> DueVote::test_gather() {
  if (!is_gathering_) return true;
  CAIRN_TRY_ASSIGN(is_complete, run_.exchange()->test_gather(Exchange::Channel::need));
  if (!is_complete) return false;
  is_gathering_ = false;
  const bool differs = std::any_of(wishes_.begin(), wishes_.end(), [&](const NodeWish& one) {
    return one.call != wish_.call || one.check != wish_.check;
  });
  const bool is_due = std::any_of(wishes_.begin(), wishes_.end(),
                                  [](const NodeWish& one) { return one.is_due != 0; });
  if (is_due) note_version();
  say(wish_.call + lag, (is_due ? says_yes : 0) | (differs ? says_fault : 0));
  return true;
}

Status DueVote::finish() {
  SpinWait spin;
  for (;;) {
    CAIRN_TRY_ASSIGN(is_over, test_gather());
    if (is_over) return Status();
    if (work_) work_().ignore();
    spin.pause();
  }
}

}  // namespace cairn::checkpoint
