// CopyOut: copies stored bytes into arrays of the program.
#pragma once

#include <array>
#include <memory>

#include "checkpoint/define/definitions.h"
#include "checkpoint/restart/stored_version.h"

namespace cairn::checkpoint {

class CopyOut {
 public:
  explicit CopyOut(StoredVersion* stored);

  // Copies the elements `wanted` of a stored variable to their places in an array, which count from
  // its first element without halo.
  Status copy(uint32_t variable, const Section& wanted, const ArrayPlace& array);

 private:
  // Sets the area that the following bytes come from.
  Status set_source(const Area& area);
  // Takes one element after the other from [offset, offset + size) of the area.
  Status take(uint64_t offset, uint8_t* to, uint64_t size);
  Status copy_part(const Variable& variable, uint32_t index, uint32_t rank, const Section& wanted,
                   const ArrayPlace& array);
  // These read from `begin` on of the area.
  Status copy_box(const Variable& variable, uint64_t begin, const Section& stored,
                  const SharedBox& shared, const ArrayPlace& array);
  Status copy_runs(const Variable& variable, uint64_t begin, SharedRuns runs,
                   const ArrayPlace& array);
  Status read(uint64_t offset, uint8_t* to, uint64_t size);

  StoredVersion& stored_;
  Area area_;
  PartReader* reader_ = nullptr;
  // The bytes of the area that are in `buffer_`.
  uint64_t window_ = 0;
  uint64_t window_bytes_ = 0;
  uint64_t window_wanted_;
  std::unique_ptr<uint8_t[]> buffer_;
};

// Stores `element` into all elements of the array, without halo.
void fill_with(const ArrayPlace& array, const std::vector<uint8_t>& element);

}  // namespace cairn::checkpoint
