// Runs: which bytes, said briefly. What a process has written is a set of intervals; a commit says it as runs
// of equal pieces at equal distances, as strided and interleaved accesses leave them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace cairn::cluster {

// `count` pieces of `length` bytes, the first at `offset`, each `stride` behind the one before (count 1: stride 0).
// Pieces do not touch or overlap: stride > length.
struct Run {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t stride = 0;
  uint64_t count = 1;
  [[nodiscard]] uint64_t end() const { return offset + stride * (count - 1) + length; }
  [[nodiscard]] uint64_t bytes() const { return length * count; }
  friend bool operator==(const Run&, const Run&) = default;
};

struct Interval {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Calls visit(begin, end) for each piece of the run that reaches into [begin, end), cut to it, in order.
template <typename Visit>
void visit_pieces(const Run& run, uint64_t begin, uint64_t end, Visit&& visit) {
  if (begin >= run.end() || end <= run.offset) return;
  uint64_t k = 0;
  if (run.count > 1 && begin > run.offset) k = (begin - run.offset) / run.stride;
  for (; k < run.count; ++k) {
    const uint64_t at = run.offset + k * run.stride;
    if (at >= end) return;
    const uint64_t from = at < begin ? begin : at;
    const uint64_t to = at + run.length > end ? end : at + run.length;
    if (from < to) visit(from, to);
  }
}

// Puts pieces, given in ascending order, together into runs.
class RunBuilder {
 public:
  void add(uint64_t begin, uint64_t end);
  [[nodiscard]] std::vector<Run> take();
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

 private:
  std::vector<Run> runs_;
};

// A set of bytes that grows write by write.
class ByteSet {
 public:
  void add(uint64_t begin, uint64_t end);
  void truncate(uint64_t size);
  void clear() { intervals_.clear(); }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }
  [[nodiscard]] uint64_t end() const;  // 0: empty
  [[nodiscard]] std::vector<Run> runs() const;
  // Calls inside(begin, end) and outside(begin, end) for what of [begin, end) is in the set and what is not.
  template <typename Inside, typename Outside>
  void split(uint64_t begin, uint64_t end, Inside&& inside, Outside&& outside) const {
    auto at = intervals_.upper_bound(begin);
    if (at != intervals_.begin() && std::prev(at)->second > begin) --at;
    while (begin < end) {
      if (at == intervals_.end() || at->first >= end) {
        outside(begin, end);
        return;
      }
      if (at->first > begin) outside(begin, at->first);
      const uint64_t from = at->first > begin ? at->first : begin;
      const uint64_t to = at->second < end ? at->second : end;
      inside(from, to);
      begin = to;
      ++at;
    }
  }

 private:
  std::map<uint64_t, uint64_t> intervals_;  // begin -> end; they do not touch
};

}  // namespace cairn::cluster
