// IntegerReader: reads the counts or cells of a rank, one after the other, for Counted. It holds
// few of them at a time, because a record can claim that there are many.
#pragma once

#include <vector>

#include "checkpoint/restart/stored_version.h"

namespace cairn::checkpoint {

class IntegerReader {
 public:
  IntegerReader() = default;
  // Verifies the bytes [at, at + bytes) of the area, which are integers of this type. EUCLEAN.
  static Result<IntegerReader> open(StoredVersion* stored, const Area& area, uint64_t at,
                                    uint64_t bytes, const Variable& variable);

  [[nodiscard]] bool is_over() const { return at_ == end_; }
  // Returns the next integer; not to be called at the end.
  Result<uint64_t> next();

 private:
  IntegerReader(PartReader* reader, const Area& area, uint64_t at, uint64_t bytes,
                const Variable& variable)
      : reader_(reader),
        area_(area),
        at_(at),
        end_(at + bytes),
        type_(variable.type),
        size_(variable.element_size) {}

  PartReader* reader_ = nullptr;
  Area area_;
  uint64_t at_ = 0;
  uint64_t end_ = 0;
  Type type_ = Type::uint64;
  uint64_t size_ = 0;
  std::vector<uint8_t> held_;
  size_t next_ = 0;  // in held_
};

// Returns bytes of an area, verified. EUCLEAN: they lie beyond it, or differ from their checksum.
Result<std::vector<uint8_t>> read_verified(StoredVersion* stored, const Area& area, uint64_t at,
                                           uint64_t bytes);

}  // namespace cairn::checkpoint
