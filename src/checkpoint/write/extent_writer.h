// ExtentWriter: writes a rank's counted variables. Their size differs from version to version, so a
// rank reserves its extent of the data file when it knows the size.
#pragma once

#include <vector>

#include "checkpoint/define/definitions.h"
#include "checkpoint/layout/packing.h"
#include "checkpoint/store/records.h"
#include "file/open/open_file.h"

namespace cairn::checkpoint {

// The counted variables of a rank at a version.
struct Extent {
  std::vector<DirectoryRecord> directory;  // of all counted variables, in order of the layout
  std::vector<ArrayPlace> arrays;          // in the same order
  Packed packed;                           // pieces behind the directory
};

// Finds the extent. `variables`: by index in the layout. Errors name the variable. EOVERFLOW: more
// than an extent has.
Result<Extent> find_extent(const Contents& contents,
                           const std::vector<const Definition*>& variables);

// Writes the extent at `offset` of the data file, which is large enough. Returns the CRC of its
// checksum list.
Result<uint32_t> write_extent(file::File& data, uint64_t offset, const Contents& contents,
                              const Extent& extent);

}  // namespace cairn::checkpoint
