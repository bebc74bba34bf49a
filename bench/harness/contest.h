// A contest: several ways to do the same work, in turn, so that what else the machine does meets
// all of them alike. Each round gives one ratio of two contenders. Chance says which
// contender comes first in a round: each leaves the caches and the memory in a state that the next
// one meets (dirty lines after copies through the cache, none after others), and always to follow
// the same one would be an advantage or a handicap.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "harness/report.h"
#include "harness/settings.h"

namespace cairn::bench {

// The clock that work is timed with. One process alone is timed in the processor time of its
// thread: it waits for nobody, so that is its wall time less what other programs of the machine
// took from it. Processes that may wait for each other are timed by the wall.
double now_ns();
void use_wall_clock();

class Contest {
 public:
  // Does the round's piece of work and returns the nanoseconds that are to count.
  using Work = std::function<double(size_t round)>;

  // Returns the contender's number.
  size_t add(std::string name, Work work);
  // Keeps the order in which contenders were added, for those that depend on each other: unlink
  // removes the files that create made.
  void keep_order() { drawn_ = false; }
  // The number of the piece of work that is being done, those of all contenders counted. Where they
  // work on the same memory, each takes the part that follows: every part was then touched last a
  // whole lap ago, by whomever.
  [[nodiscard]] size_t turn() const { return turn_; }
  // Before each round, untimed.
  void before_round(std::function<void(size_t round)> prepare) { prepare_ = std::move(prepare); }

  void run(size_t rounds);

  [[nodiscard]] size_t rounds() const { return times_.empty() ? 0 : times_[0].size(); }
  [[nodiscard]] const std::string& name(size_t contender) const { return names_[contender]; }
  [[nodiscard]] double median(size_t contender) const { return median_of(times_[contender]); }
  [[nodiscard]] const std::vector<double>& times(size_t contender) const {
    return times_[contender];
  }
  // Returns the contender of `among` with the least median.
  [[nodiscard]] size_t fastest(const std::vector<size_t>& among) const;
  // times of `limit` / times of `ours`, one per round: the share of the limit's speed that we
  // reach.
  [[nodiscard]] std::vector<double> speed_ratios(size_t ours, size_t limit) const;

  // Returns a row for `ours` against the fastest of `limits`, after settings.pairs rounds unless
  // rounds were run before. The number is fixed: rounds that are added until an interval leaves a
  // bar make it leave too often. calls: how many calls one round makes.
  Row judge(const Settings& settings, size_t ours, const std::vector<size_t>& limits, size_t calls,
            Bar bar, Unit unit = Unit::percent);

 private:
  std::vector<std::string> names_;
  std::vector<Work> works_;
  std::vector<std::vector<double>> times_;
  std::function<void(size_t)> prepare_;
  bool drawn_ = true;
  size_t turn_ = 0;
  std::minstd_rand random_;  // the same draws in every run
};

}  // namespace cairn::bench
