// RegionWriter: copies a rank's pieces into its region of a data file and computes checksums on the
// way. It reads no byte of the pool, and does not fence.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "checkpoint/define/definitions.h"
#include "checkpoint/layout/checksum_list.h"
#include "checkpoint/layout/packing.h"
#include "checkpoint/store/records.h"
#include "file/open/open_file.h"

namespace cairn::checkpoint {

class RegionWriter {
 public:
  // Begins a region at `offset` in the file.
  RegionWriter(file::File& data, uint64_t offset, uint64_t block_bytes);

  // Writes zeros up to this position in the region, which is not behind the current one.
  Status fill_to(uint64_t position);
  Status add_raw(const uint8_t* bytes, uint64_t size) { return add_bytes(bytes, size); }
  // Writes the elements without halo, in this order.
  Status add(const ArrayPlace& array, const Order& order);
  // Writes the rest, and the list. Returns the CRC of the list.
  Result<uint32_t> finish();
  [[nodiscard]] uint64_t position() const { return position_; }

 private:
  Status add_bytes(const uint8_t* bytes, uint64_t size);
  Status add_padded(Type type, const uint8_t* elements, uint64_t size);
  Status flush();
  Status write(const uint8_t* bytes, uint64_t size);

  file::File& data_;
  uint64_t offset_;
  ChecksumWriter sums_;
  uint64_t position_ = 0;  // in the region, of all that was added
  uint64_t held_ = 0;      // bytes in the buffer, the last that were added
  std::unique_ptr<uint8_t[]> buffer_;
};

// Called with each array as it is written.
using SeeArray = std::function<void(uint32_t variable, const ArrayPlace& array)>;

// Writes all of a rank's region. `variables`: by index in the layout, null if the rank has none.
// ENODATA and others name the variable. Returns the root without its checksum.
Result<RootRecord> write_region(file::File& data, uint64_t offset, const Contents& contents,
                                const Packed& packed,
                                const std::vector<const Definition*>& variables,
                                const SeeArray& see);

}  // namespace cairn::checkpoint
