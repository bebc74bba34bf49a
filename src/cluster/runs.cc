#include "cluster/runs.h"

#include <algorithm>
#include <utility>

namespace cairn::cluster {

void RunBuilder::add(uint64_t begin, uint64_t end) {
  const uint64_t length = end - begin;
  if (!runs_.empty()) {
    Run& last = runs_.back();
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

std::vector<Run> RunBuilder::take() { return std::exchange(runs_, {}); }

void ByteSet::add(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  auto next = intervals_.upper_bound(begin);
  if (next != intervals_.begin()) {
    const auto before = std::prev(next);
    if (before->second >= begin) {
      if (before->second >= end) return;
      // What is written in sequence extends what is there.
      before->second = end;
      next = before;
    } else {
      next = intervals_.emplace_hint(next, begin, end);
    }
  } else {
    next = intervals_.emplace_hint(next, begin, end);
  }
  for (auto after = std::next(next); after != intervals_.end() && after->first <= next->second;) {
    next->second = std::max(next->second, after->second);
    after = intervals_.erase(after);
  }
}

void ByteSet::truncate(uint64_t size) {
  auto at = intervals_.lower_bound(size);
  intervals_.erase(at, intervals_.end());
  if (!intervals_.empty()) {
    auto& last = *intervals_.rbegin();
    last.second = std::min(last.second, size);
  }
}

uint64_t ByteSet::end() const { return intervals_.empty() ? 0 : intervals_.rbegin()->second; }

std::vector<Run> ByteSet::runs() const {
  RunBuilder builder;
  for (const auto& [begin, end] : intervals_) builder.add(begin, end);
  return builder.take();
}

}  // namespace cairn::cluster
