#include "cluster/record/share_map.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace cairn::cluster {
namespace {

// Nothing of `old` shows below `over`.
bool hides(const ByteRun& over, const ByteRun& old) {
  if (over.count == 1) return over.offset <= old.offset && over.end() >= old.end();
  return over == old;
}

}  // namespace

void join_neighbours(std::vector<Share>* shares) {
  const auto kind = [](const Share& share) {
    return std::tuple(share.node, share.run.stride, share.run.count);
  };
  std::sort(shares->begin(), shares->end(), [&](const Share& a, const Share& b) {
    return std::tuple(kind(a), a.run.offset) < std::tuple(kind(b), b.run.offset);
  });
  std::vector<Share> joined;
  for (const Share& share : *shares) {
    if (!joined.empty() && kind(joined.back()) == kind(share)) {
      ByteRun& last = joined.back().run;
      if (last.offset + last.length == share.run.offset) {
        last.length += share.run.length;
        // No gaps are left.
        if (last.length == last.stride) last = {last.offset, last.stride * last.count, 0, 1};
        continue;
      }
    }
    joined.push_back(share);
  }
  *shares = std::move(joined);
}

void ShareMap::add(const ByteRun& run, uint32_t node) {
  if (run.length == 0 || run.count == 0) return;
  std::erase_if(shares_, [&](const Share& share) { return hides(run, share.run); });
  if (!shares_.empty()) {
    Share& last = shares_.back();
    // A file that grows commit by commit.
    if (last.node == node && last.run.count == 1 && run.count == 1 &&
        last.run.end() == run.offset) {
      last.run.length += run.length;
      return;
    }
  }
  shares_.push_back({run, node});
  if (shares_.size() < normalise_at_) return;
  // Piece by piece: not for runs of many, which are brief already.
  constexpr uint64_t few = 16;
  uint64_t pieces = 0;
  for (const Share& share : shares_) pieces += share.run.count;
  if (pieces <= few * shares_.size())
    normalise();
  else
    normalise_at_ *= 2;
}

void ShareMap::truncate(uint64_t size) {
  std::vector<Share> kept;
  for (const Share& share : shares_) {
    const ByteRun& run = share.run;
    if (run.end() <= size) {
      kept.push_back(share);
      continue;
    }
    if (run.offset >= size) continue;
    // Whole pieces below `size`, and what is left of one that it cuts.
    const uint64_t whole =
        run.count == 1 || size < run.offset + run.length
            ? 0
            : std::min(run.count, (size - run.offset - run.length) / run.stride + 1);
    if (whole > 0)
      kept.push_back({{run.offset, run.length, whole == 1 ? 0 : run.stride, whole}, share.node});
    const uint64_t cut = run.offset + whole * run.stride;
    if (whole < run.count && cut < size) kept.push_back({{cut, size - cut, 0, 1}, share.node});
  }
  shares_ = std::move(kept);
}

std::vector<ShareMap::Piece> ShareMap::find(uint64_t begin, uint64_t end) const {
  std::vector<Piece> found;
  if (begin >= end) return found;
  std::vector<Interval> open = {{begin, end}};  // what nobody has been found for yet, ascending
  for (auto share = shares_.rbegin(); share != shares_.rend() && !open.empty(); ++share) {
    const ByteRun& run = share->run;
    if (run.offset >= open.back().end || run.end() <= open.front().begin) continue;
    std::vector<Interval> left;
    for (const Interval& gap : open) {
      uint64_t at = gap.begin;
      visit_pieces(run, gap.begin, gap.end, [&](uint64_t from, uint64_t to) {
        if (from > at) left.push_back({at, from});
        found.push_back({from, to, share->node});
        at = to;
      });
      if (at < gap.end) left.push_back({at, gap.end});
    }
    open = std::move(left);
  }
  for (const Interval& gap : open) found.push_back({gap.begin, gap.end, nobody});
  std::sort(found.begin(), found.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  // Neighbours of one node are one piece.
  size_t last = 0;
  for (size_t i = 1; i < found.size(); ++i) {
    if (found[i].node == found[last].node)
      found[last].end = found[i].end;
    else
      found[++last] = found[i];
  }
  found.resize(found.empty() ? 0 : last + 1);
  return found;
}

void ShareMap::normalise() {
  std::map<uint32_t, RunBuilder> builders;
  for (const Piece& piece : find(0, end()))
    if (piece.node != nobody) builders[piece.node].add(piece.begin, piece.end);
  shares_.clear();
  for (auto& [node, builder] : builders)
    for (const ByteRun& run : builder.take()) shares_.push_back({run, node});
  constexpr size_t least = 64;
  normalise_at_ = std::max(least, shares_.size() * 2);
}

uint64_t ShareMap::end() const {
  uint64_t end = 0;
  for (const Share& share : shares_) end = std::max(end, share.run.end());
  return end;
}

}  // namespace cairn::cluster
