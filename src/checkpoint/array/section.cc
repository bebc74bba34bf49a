#include "checkpoint/array/section.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace cairn::checkpoint {
namespace {

// Returns the number of elements before this one, of those from `first` on.
uint64_t count_before(const Stripes& stripes, uint64_t element) {
  const int64_t distance = static_cast<int64_t>(element) - stripes.first;
  if (distance <= 0) return 0;
  const auto from_first = static_cast<uint64_t>(distance);
  return from_first / stripes.step * stripes.block +
         std::min(from_first % stripes.step, stripes.block);
}

Stripes stripes_of(const Box& box, unsigned k, const Extents& origin) {
  return {box.offset[k], box.offset[k] + box.count[k], static_cast<int64_t>(origin[k]), 0, 0};
}

}  // namespace

uint64_t Stripes::count() const {
  if (end <= begin) return 0;
  if (step == 0) return end - begin;
  return count_before(*this, end) - count_before(*this, begin);
}

bool Stripes::contains(uint64_t element) const {
  if (element < begin || element >= end) return false;
  if (step == 0) return true;
  const int64_t distance = static_cast<int64_t>(element) - first;
  return distance >= 0 && static_cast<uint64_t>(distance) % step < block;
}

Extents Section::counts() const {
  Extents counts{};
  for (unsigned k = 0; k < dimensions; ++k) counts[k] = along[k].count();
  return counts;
}

Section section_of(const Box& box) { return section_of(box, box.offset); }

Section section_of(const Box& box, const Extents& origin) {
  Section section;
  section.dimensions = box.dimensions;
  for (unsigned k = 0; k < box.dimensions; ++k) section.along[k] = stripes_of(box, k, origin);
  return section;
}

bool is_empty(const Section& section) {
  for (unsigned k = 0; k < section.dimensions; ++k)
    if (section.along[k].count() == 0) return true;
  return false;
}

SharedIntervals::Cursor::Cursor(const Stripes& stripes)
    : stripes_(stripes),
      first_(stripes.first),
      last_(stripes.step == 0 ? static_cast<int64_t>(stripes.end)
                              : stripes.first + static_cast<int64_t>(stripes.block)) {}

uint64_t SharedIntervals::Cursor::begin() const {
  if (stripes_.step == 0) return stripes_.begin;
  return static_cast<uint64_t>(std::max(first_, static_cast<int64_t>(stripes_.begin)));
}

uint64_t SharedIntervals::Cursor::end() const {
  return static_cast<uint64_t>(std::min(last_, static_cast<int64_t>(stripes_.end)));
}

bool SharedIntervals::Cursor::seek(uint64_t element) {
  const auto wanted = static_cast<int64_t>(std::max(element, stripes_.begin));
  if (wanted >= static_cast<int64_t>(stripes_.end)) return false;
  if (wanted >= last_) {
    if (stripes_.step == 0) return false;
    const auto step = static_cast<int64_t>(stripes_.step);
    // The next block is usually near, and a division is expensive.
    int64_t steps = 1;
    if (wanted - last_ >= step) steps += (wanted - last_) / step;
    first_ += steps * step;
    last_ += steps * step;
    place_ += steps * static_cast<int64_t>(stripes_.block);
  }
  return begin() < stripes_.end;
}

SharedIntervals::SharedIntervals(const Stripes& stored, const Stripes& wanted)
    : stored_(stored), wanted_(wanted), in_stored_(stored), in_wanted_(wanted) {}

void SharedIntervals::rewind() { *this = SharedIntervals(stored_, wanted_); }

bool SharedIntervals::are_alike() const {
  return stored_.step != 0 && stored_.step == wanted_.step && stored_.block == wanted_.block &&
         stored_.first == wanted_.first;
}

bool SharedIntervals::next(SharedInterval* interval) {
  while (in_stored_.seek(at_) && in_wanted_.seek(at_)) {
    const uint64_t begin = std::max({at_, in_stored_.begin(), in_wanted_.begin()});
    uint64_t end = std::min(in_stored_.end(), in_wanted_.end());
    at_ = std::max(begin, end);
    if (end <= begin) continue;
    *interval = {begin, in_stored_.place_of(begin), in_wanted_.place_of(begin), end - begin};
    if (are_alike()) {
      end = std::min(stored_.end, wanted_.end);
      interval->count = count_before(stored_, end) - count_before(stored_, begin);
      at_ = end;
    }
    return true;
  }
  return false;
}

bool intersects(const Stripes& a, const Stripes& b) {
  if (std::max(a.begin, b.begin) >= std::min(a.end, b.end)) return false;
  if (a.step == 0 && b.step == 0) return true;
  SharedInterval interval;
  return SharedIntervals(a, b).next(&interval);
}

bool intersects(const Box& box, const Section& section) {
  for (unsigned k = 0; k < box.dimensions; ++k)
    if (!intersects(stripes_of(box, k, box.offset), section.along[k])) return false;
  return true;
}

bool has_all(const Box& box, const Section& section) {
  for (unsigned k = 0; k < box.dimensions; ++k) {
    const Stripes& along = section.along[k];
    if (along.begin < box.offset[k] || along.end > box.offset[k] + box.count[k]) return false;
  }
  return true;
}

Result<std::vector<Box>> boxes_of(const Section& section, uint64_t most) {
  std::vector<Box> boxes = {Box{section.dimensions, {}, {}}};
  for (unsigned k = 0; k < section.dimensions; ++k) {
    const Stripes& along = section.along[k];
    std::vector<Box> longer;
    for (const Box& box : boxes) {
      SharedIntervals blocks(along, {along.begin, along.end, 0, 0, 0});
      for (SharedInterval block; blocks.next(&block);) {
        if (longer.size() == most)
          return fail(EOVERFLOW, "a block-cyclic array has more than %llu blocks on a rank",
                      static_cast<unsigned long long>(most));
        longer.push_back(box);
        longer.back().offset[k] = block.element;
        longer.back().count[k] = block.count;
      }
    }
    boxes = std::move(longer);
  }
  return boxes;
}

std::optional<SharedBox> shared_box(const Section& stored, const Section& wanted) {
  SharedBox shared{{stored.dimensions, {}, {}}, {}};
  for (unsigned k = 0; k < stored.dimensions; ++k) {
    SharedIntervals intervals(stored.along[k], wanted.along[k]);
    SharedInterval interval;
    if (!intervals.next(&interval)) return SharedBox{{stored.dimensions, {}, {}}, {}};
    shared.stored.offset[k] = static_cast<uint64_t>(interval.stored);
    shared.stored.count[k] = interval.count;
    shared.wanted[k] = interval.wanted;
    if (intervals.next(&interval)) return std::nullopt;
  }
  return shared;
}

SharedRuns::SharedRuns(const Section& stored, const Section& wanted, const Order& order,
                       const Places& strides)
    : levels_(stored.dimensions) {
  int64_t unit = 1;
  for (unsigned i = levels_; i-- != 0;) {
    const unsigned k = order[i];
    Level& level = level_[i];
    level.intervals = SharedIntervals(stored.along[k], wanted.along[k]);
    level.from = unit;
    level.to = strides[k];
    unit *= static_cast<int64_t>(stored.along[k].count());
    // All dimensions except the fastest start at their first element.
    if (i + 1 == levels_)
      is_over_ = !intersects(stored.along[k], wanted.along[k]);
    else if (!level.intervals.next(&level.interval))
      is_over_ = true;
  }
}

// Moves to the next element of a dimension other than the fastest. Returns false at the last
// element, and restarts the dimension.
bool SharedRuns::step(Level* level) {
  if (++level->at < level->interval.count) return true;
  level->at = 0;
  if (level->intervals.next(&level->interval)) return true;
  level->intervals.rewind();
  level->intervals.next(&level->interval);
  return false;
}

bool SharedRuns::next(Run* run) {
  Level& fastest = level_[levels_ - 1];
  while (!is_over_ && !fastest.intervals.next(&fastest.interval)) {
    fastest.intervals.rewind();
    unsigned i = levels_ - 1;
    while (i != 0 && !step(&level_[i - 1])) --i;
    is_over_ = i == 0;
  }
  if (is_over_) return false;
  int64_t from = 0;
  run->to = 0;
  for (unsigned i = 0; i < levels_; ++i) {
    const Level& level = level_[i];
    const auto at = static_cast<int64_t>(level.at);
    from += level.from * (level.interval.stored + at);
    run->to += level.to * (level.interval.wanted + at);
  }
  run->from = static_cast<uint64_t>(from);
  run->count = fastest.interval.count;
  return true;
}

}  // namespace cairn::checkpoint
