// ExtentWriter: what a rank writes of counted variables. How much that is differs from version to
// version, so a rank takes its extent of the data file when it knows.
#pragma once

#include <vector>

#include "checkpoint/define/definitions.h"
#include "checkpoint/layout/packing.h"
#include "checkpoint/store/records.h"
#include "file/open/open_file.h"

namespace cairn::checkpoint {

// What a rank has now.
struct Extent {
  std::vector<DirectoryRecord> directory;  // of all counted variables, in order of the layout
  std::vector<ArrayPlace> arrays;          // of the same
  Packed packed;                           // pieces behind the directory
};

// `variables`: by index in the layout. Errors name the variable. EOVERFLOW: more than an extent
// has.
Result<Extent> find_extent(const Contents& contents,
                           const std::vector<const Definition*>& variables);

// Writes it at `offset` of the data file, which is large enough. The CRC of its checksum list.
Result<uint32_t> write_extent(file::File& data, uint64_t offset, const Contents& contents,
                              const Extent& extent);

}  // namespace cairn::checkpoint
