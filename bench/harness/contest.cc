#include "harness/contest.h"

#include <time.h>

#include <algorithm>
#include <numeric>

namespace cairn::bench {

namespace {
clockid_t clock_in_use = CLOCK_THREAD_CPUTIME_ID;
}

void use_wall_clock() { clock_in_use = CLOCK_MONOTONIC; }

double now_ns() {
  timespec time = {};
  clock_gettime(clock_in_use, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

size_t Contest::add(std::string name, Work work) {
  names_.push_back(std::move(name));
  works_.push_back(std::move(work));
  times_.emplace_back();
  return works_.size() - 1;
}

void Contest::run(size_t rounds) {
  const size_t first = this->rounds();
  std::vector<size_t> order(works_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t round = first; round < first + rounds; ++round) {
    if (prepare_) prepare_(round);
    if (drawn_) std::shuffle(order.begin(), order.end(), random_);
    for (const size_t c : order) {
      times_[c].push_back(works_[c](round));
      ++turn_;
    }
  }
}

size_t Contest::fastest(const std::vector<size_t>& among) const {
  return *std::min_element(among.begin(), among.end(),
                           [this](size_t a, size_t b) { return median(a) < median(b); });
}

std::vector<double> Contest::speed_ratios(size_t ours, size_t limit) const {
  std::vector<double> ratios;
  for (size_t i = 0; i < times_[ours].size(); ++i)
    ratios.push_back(times_[limit][i] / times_[ours][i]);
  return ratios;
}

Row Contest::judge(const Settings& settings, size_t ours, const std::vector<size_t>& limits,
                   size_t calls, Bar bar, Unit unit) {
  if (rounds() == 0) run(settings.pairs);
  const size_t limit = fastest(limits);
  Row row;
  row.measured = bootstrap_median(speed_ratios(ours, limit));
  row.against = name(limit);
  row.ours_ns = median(ours) / static_cast<double>(calls);
  row.limit_ns = median(limit) / static_cast<double>(calls);
  row.pairs = rounds();
  row.bar = bar;
  row.unit = unit;
  return row;
}

}  // namespace cairn::bench
