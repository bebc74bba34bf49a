// Runs say briefly which bytes of a file are meant. What a process has written is a set of
// intervals; a commit says it as runs of equal pieces at equal distances, as strided and
// interleaved accesses leave them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace cairn::cluster {

// `count` pieces of `length` bytes, the first at `offset`, each `stride` behind the one before
// (count 1: stride 0). Pieces do not touch or overlap: stride > length.
struct ByteRun {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t stride = 0;
  uint64_t count = 1;
  [[nodiscard]] uint64_t end() const { return offset + stride * (count - 1) + length; }
  [[nodiscard]] uint64_t bytes() const { return length * count; }
  friend bool operator==(const ByteRun&, const ByteRun&) = default;
};

struct Interval {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Calls visit(begin, end) for each piece of the run that reaches into [begin, end), cut to it, in
// order.
template <typename Visit>
void visit_pieces(const ByteRun& run, uint64_t begin, uint64_t end, Visit&& visit) {
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
  [[nodiscard]] std::vector<ByteRun> take();
  [[nodiscard]] const std::vector<ByteRun>& runs() const { return runs_; }

 private:
  std::vector<ByteRun> runs_;
};

// A set of bytes that grows write by write. Writes in sequence or at equal distances are kept as
// runs, whatever their number; others as intervals.
class ByteSet {
 public:
  void add(uint64_t begin, uint64_t end) {
    if (begin >= end) return;
    if (!extend(begin, end)) [[unlikely]]
      start(begin, end);
  }
  void truncate(uint64_t size);
  void clear();
  [[nodiscard]] bool empty() const { return end() == 0; }
  [[nodiscard]] uint64_t end() const { return end_; }  // 0: empty
  // They may overlap.
  [[nodiscard]] std::vector<ByteRun> runs();
  // Calls inside(begin, end) and outside(begin, end) for what of [begin, end) is in the set and
  // what is not, in ascending order.
  template <typename Inside, typename Outside>
  void split(uint64_t begin, uint64_t end, Inside&& inside, Outside&& outside) const {
    if (begin >= end) return;
    for (const Part& part : parts_of(begin, end)) {
      if (part.inside)
        inside(part.begin, part.end);
      else
        outside(part.begin, part.end);
    }
  }

 private:
  struct Part {
    uint64_t begin;
    uint64_t end;
    bool inside;
  };
  // Does the write go on where the last ones were?
  bool extend(uint64_t begin, uint64_t end) {
    const uint64_t length = end - begin;
    if (active_.count == 1) {
      if (begin == active_.offset + active_.length && active_.length != 0) {
        active_.length += length;
      } else if (length == active_.length && begin > active_.end()) {
        active_.stride = begin - active_.offset;
        active_.count = 2;
      } else {
        return false;
      }
    } else if (length == active_.length &&
               begin == active_.offset + active_.stride * active_.count) {
      ++active_.count;
    } else {
      return false;
    }
    if (end > end_) end_ = end;
    return true;
  }
  void start(uint64_t begin, uint64_t end);
  void put_away(const ByteRun& run);
  void insert(uint64_t begin, uint64_t end);
  [[nodiscard]] std::vector<Part> parts_of(uint64_t begin, uint64_t end) const;

  ByteRun active_;                          // that the last writes belong to; length 0: none
  std::vector<ByteRun> regular_;            // of many pieces each
  std::map<uint64_t, uint64_t> intervals_;  // begin -> end; they do not touch
  uint64_t end_ = 0;
};

}  // namespace cairn::cluster
