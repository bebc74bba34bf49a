#include "cluster/record/runs.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cairn::cluster {

void RunBuilder::add(uint64_t begin, uint64_t end) {
  const uint64_t length = end - begin;
  if (!runs_.empty()) {
    ByteRun& last = runs_.back();
    if (last.count == 1 && begin == last.end()) {
      last.length += length;
      return;
    }
    if (last.length == length && last.count == 1 && begin > last.end()) {
      last.stride = begin - last.offset;
      last.count = 2;
      return;
    }
    if (last.length == length && last.count > 1 &&
        begin == last.offset + last.stride * last.count) {
      ++last.count;
      return;
    }
  }
  runs_.push_back({begin, length, 0, 1});
}

std::vector<ByteRun> RunBuilder::take() { return std::exchange(runs_, {}); }

void ByteSet::clear() { *this = {}; }

void ByteSet::start(uint64_t begin, uint64_t end) {
  put_away(active_);
  active_ = {begin, end - begin, 0, 1};
  end_ = std::max(end_, end);
}

void ByteSet::put_away(const ByteRun& run) {
  if (run.length == 0) return;
  constexpr uint64_t many = 16;
  constexpr size_t most = 256;
  if (run.count < many) {
    visit_pieces(run, 0, run.end(), [&](uint64_t begin, uint64_t end) { insert(begin, end); });
    return;
  }
  if (std::find(regular_.begin(), regular_.end(), run) != regular_.end()) return;
  regular_.push_back(run);
  if (regular_.size() <= most) return;
  // Each look-up goes through all of them.
  for (const ByteRun& old : std::exchange(regular_, {}))
    visit_pieces(old, 0, old.end(), [&](uint64_t begin, uint64_t end) { insert(begin, end); });
}

void ByteSet::insert(uint64_t begin, uint64_t end) {
  auto next = intervals_.upper_bound(begin);
  if (next != intervals_.begin() && std::prev(next)->second >= begin) {
    next = std::prev(next);
    next->second = std::max(next->second, end);
  } else {
    next = intervals_.emplace_hint(next, begin, end);
  }
  for (auto after = std::next(next); after != intervals_.end() && after->first <= next->second;) {
    next->second = std::max(next->second, after->second);
    after = intervals_.erase(after);
  }
}

void ByteSet::truncate(uint64_t size) {
  if (size >= end_) return;
  const std::vector<ByteRun> all = runs();
  clear();
  for (const ByteRun& run : all) {
    if (run.end() <= size && run.count > 1) {
      put_away(run);
      end_ = std::max(end_, run.end());
      continue;
    }
    visit_pieces(run, 0, size, [&](uint64_t begin, uint64_t end) {
      insert(begin, end);
      end_ = std::max(end_, end);
    });
  }
}

std::vector<ByteRun> ByteSet::runs() {
  put_away(std::exchange(active_, {}));
  RunBuilder builder;
  for (const auto& [begin, end] : intervals_) builder.add(begin, end);
  std::vector<ByteRun> all = builder.take();
  all.insert(all.end(), regular_.begin(), regular_.end());
  return all;
}

std::vector<ByteSet::Part> ByteSet::parts_of(uint64_t begin, uint64_t end) const {
  std::vector<Part> parts;
  std::vector<Interval> gaps;
  const auto inside = [&](uint64_t from, uint64_t to) { parts.push_back({from, to, true}); };
  uint64_t at = begin;
  auto interval = intervals_.upper_bound(begin);
  if (interval != intervals_.begin()) --interval;
  for (; interval != intervals_.end() && interval->first < end; ++interval) {
    const uint64_t from = std::max(interval->first, begin);
    const uint64_t to = std::min(interval->second, end);
    if (from >= to) continue;
    if (at < from) gaps.push_back({at, from});
    inside(from, to);
    at = to;
  }
  if (at < end) gaps.push_back({at, end});
  const auto look_in = [&](const ByteRun& run) {
    if (run.length == 0 || gaps.empty() || run.offset >= gaps.back().end ||
        run.end() <= gaps.front().begin)
      return;
    std::vector<Interval> left;
    for (const Interval& gap : gaps) {
      uint64_t open = gap.begin;
      visit_pieces(run, gap.begin, gap.end, [&](uint64_t from, uint64_t to) {
        if (open < from) left.push_back({open, from});
        inside(from, to);
        open = to;
      });
      if (open < gap.end) left.push_back({open, gap.end});
    }
    gaps = std::move(left);
  };
  look_in(active_);
  for (const ByteRun& run : regular_) look_in(run);
  for (const Interval& gap : gaps) parts.push_back({gap.begin, gap.end, false});
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.begin < b.begin; });
  return parts;
}

}  // namespace cairn::cluster
