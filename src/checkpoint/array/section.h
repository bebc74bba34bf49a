// Section: the elements of an array that one process holds: in each dimension, intervals of equal
// length at equal distances. A box is a section, and so is a rank's part of a block-cyclic array.
// All functions are safe for numbers that were read from a medium and checked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "checkpoint/array/box.h"
#include "checkpoint/array/runs.h"

namespace cairn::checkpoint {

using Places = std::array<int64_t, max_dimensions>;

// Elements of one dimension. An element's place is its index in the array of the process.
struct Stripes {
  uint64_t begin = 0;  // all lie in [begin, end)
  uint64_t end = 0;
  int64_t first = 0;  // the element that has, or would have, place 0
  // Blocks of `block` elements begin `step` apart, from `first` on. A step of 0 means all of
  // [begin, end), where places may be negative, as those of a halo are.
  uint64_t block = 0;
  uint64_t step = 0;

  [[nodiscard]] uint64_t count() const;
  [[nodiscard]] bool contains(uint64_t element) const;
  friend bool operator==(const Stripes&, const Stripes&) = default;
};

struct Section {
  unsigned dimensions = 0;
  std::array<Stripes, max_dimensions> along{};

  [[nodiscard]] Extents counts() const;
  friend bool operator==(const Section&, const Section&) = default;
};

Section section_of(const Box& box);
// Makes a section of a box. `origin`: the element with place 0 in all dimensions.
Section section_of(const Box& box, const Extents& origin);
bool is_empty(const Section& section);

// Consecutive elements of a dimension that two processes hold, with their places.
struct SharedInterval {
  uint64_t element = 0;
  int64_t stored = 0;
  int64_t wanted = 0;
  uint64_t count = 0;
};

// Walks the intervals that both have, ascending, without listing them.
class SharedIntervals {
 public:
  SharedIntervals() = default;
  SharedIntervals(const Stripes& stored, const Stripes& wanted);

  // Returns false at the end.
  bool next(SharedInterval* interval);
  void rewind();

 private:
  // A block of one side, and the place of its first element.
  class Cursor {
   public:
    Cursor() = default;
    explicit Cursor(const Stripes& stripes);
    // Moves to the first block that ends beyond `element`. Returns false if there is none.
    bool seek(uint64_t element);
    [[nodiscard]] uint64_t begin() const;
    [[nodiscard]] uint64_t end() const;
    [[nodiscard]] int64_t place_of(uint64_t element) const {
      return place_ + (static_cast<int64_t>(element) - first_);
    }

   private:
    Stripes stripes_;
    int64_t first_ = 0;  // first element of the block; it may lie before `begin`
    int64_t last_ = 0;   // end of the block
    int64_t place_ = 0;  // place of the first element
  };
  // Returns true if both distribute their elements alike: places are then consecutive across
  // blocks.
  [[nodiscard]] bool are_alike() const;

  Stripes stored_;
  Stripes wanted_;
  Cursor in_stored_;
  Cursor in_wanted_;
  uint64_t at_ = 0;
};

bool intersects(const Stripes& a, const Stripes& b);
bool intersects(const Box& box, const Section& section);
// Returns true if the whole section lies in the box.
bool has_all(const Box& box, const Section& section);
// Returns the blocks of a section that is not empty, the last dimension the fastest. EOVERFLOW:
// more than `most`.
Result<std::vector<Box>> boxes_of(const Section& section, uint64_t most);

// The common elements of two sections whose places form a box in both arrays.
struct SharedBox {
  Box stored;
  Places wanted{};  // of the first element
};
std::optional<SharedBox> shared_box(const Section& stored, const Section& wanted);

// Walks the elements that two sections share, in the order in which `stored` is stored.
class SharedRuns {
 public:
  struct Run {
    uint64_t from = 0;   // the first one, in elements of the stored array
    int64_t to = 0;      // the sum of its places in the other array, each times its stride
    uint64_t count = 0;  // along the fastest of the stored dimensions
  };
  // Both sections have dimensions. `order`: of the stored array, slowest first. `strides`: of the
  // other array, by dimension, in any unit.
  SharedRuns(const Section& stored, const Section& wanted, const Order& order,
             const Places& strides);

  // Returns false at the end.
  bool next(Run* run);

 private:
  // The state of a dimension; slowest first.
  struct Level {
    SharedIntervals intervals;
    SharedInterval interval;  // the current one
    uint64_t at = 0;          // the current element
    int64_t from = 0;         // strides
    int64_t to = 0;
  };
  bool step(Level* level);

  unsigned levels_ = 0;
  std::array<Level, max_dimensions> level_;
  bool is_over_ = false;
};

}  // namespace cairn::checkpoint
