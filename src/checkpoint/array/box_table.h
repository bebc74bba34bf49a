// BoxTable: the boxes of ranks in a DECOMPOSITION of kind 3. It owns nothing and decodes each
// number on request, so a million boxes need no memory besides the record's.
#pragma once

#include <cstring>
#include <vector>

#include "checkpoint/array/box.h"
#include "checkpoint/record/records.h"

namespace cairn::checkpoint {

class BoxTable {
 public:
  BoxTable() = default;
  // Reads from `entries`, which have count × box_record_bytes(dimensions) bytes.
  BoxTable(const uint8_t* entries, uint64_t count, unsigned dimensions)
      : entries_(entries), count_(count), dimensions_(dimensions) {}

  [[nodiscard]] uint64_t size() const { return count_; }
  [[nodiscard]] unsigned dimensions() const { return dimensions_; }
  [[nodiscard]] uint32_t rank(uint64_t i) const { return record_at<BoxRecord>(entry(i)).rank; }
  [[nodiscard]] uint64_t offset(uint64_t i, unsigned dimension) const {
    return number(i, dimension);
  }
  [[nodiscard]] uint64_t count(uint64_t i, unsigned dimension) const {
    return number(i, dimensions_ + dimension);
  }
  [[nodiscard]] Box box(uint64_t i) const {
    Box box{dimensions_, {}, {}};
    for (unsigned k = 0; k < dimensions_; ++k) {
      box.offset[k] = offset(i, k);
      box.count[k] = count(i, k);
    }
    return box;
  }

 private:
  [[nodiscard]] const uint8_t* entry(uint64_t i) const {
    return entries_ + i * box_record_bytes(dimensions_);
  }
  [[nodiscard]] uint64_t number(uint64_t i, unsigned k) const {
    return record_at<uint64_t>(entry(i) + sizeof(BoxRecord) + size_t{8} * k);
  }

  const uint8_t* entries_ = nullptr;
  uint64_t count_ = 0;
  unsigned dimensions_ = 0;
};

// Appends an entry to a table that is being built.
inline void append_box(std::vector<uint8_t>* entries, uint32_t rank, const Box& box) {
  const size_t at = entries->size();
  entries->resize(at + static_cast<size_t>(box_record_bytes(box.dimensions)));
  const BoxRecord record{rank, 0};
  uint8_t* to = entries->data() + at;
  std::memcpy(to, &record, sizeof record);
  to += sizeof record;
  std::memcpy(to, box.offset.data(), size_t{8} * box.dimensions);
  std::memcpy(to + size_t{8} * box.dimensions, box.count.data(), size_t{8} * box.dimensions);
}

}  // namespace cairn::checkpoint
