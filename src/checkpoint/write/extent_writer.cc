#include "checkpoint/write/extent_writer.h"

#include <algorithm>

#include "checkpoint/record/text.h"
#include "checkpoint/write/region_writer.h"

namespace cairn::checkpoint {

Result<Extent> find_extent(const Contents& contents,
                           const std::vector<const Definition*>& variables) {
  Extent extent;
  std::vector<Piece> pieces;
  for (uint32_t i = 0; i < contents.layout().variables(); ++i) {
    const Variable variable = contents.layout().variable(i);
    if (!contents.is_counted(variable)) continue;
    const auto array = variables[i]->find(ArrayUse::to_write);
    if (!array.ok())
      return annotate(array.status(), "variable '%s'", shown_text(variable.name).c_str());
    const uint64_t elements = array->view.counts()[0];
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(elements, variable.element_size, &bytes) || bytes > max_region)
      return fail(EOVERFLOW, "variable '%s': %llu elements on one rank",
                  shown_text(variable.name).c_str(), static_cast<unsigned long long>(elements));
    extent.directory.push_back({i, 0, elements, 0, bytes});
    extent.arrays.push_back(*array);
    pieces.push_back({i, 0, bytes});
  }
  const uint64_t begin = extent.directory.size() * sizeof(DirectoryRecord);
  CAIRN_TRY_ASSIGN(packed, pack(contents.layout(), std::move(pieces), begin));
  extent.packed = std::move(packed);
  for (const Piece& piece : extent.packed.pieces)
    for (DirectoryRecord& entry : extent.directory)
      if (entry.variable == piece.variable) entry.offset = piece.offset;
  return extent;
}

Result<uint32_t> write_extent(file::File& data, uint64_t offset, const Contents& contents,
                              const Extent& extent) {
  RegionWriter writer(data, offset, contents.layout().block_bytes());
  CAIRN_TRY(writer.add_raw(reinterpret_cast<const uint8_t*>(extent.directory.data()),
                           extent.directory.size() * sizeof(DirectoryRecord)));
  for (const Piece& piece : extent.packed.pieces) {
    CAIRN_TRY(writer.fill_to(piece.offset));
    const auto entry =
        std::find_if(extent.directory.begin(), extent.directory.end(),
                     [&](const DirectoryRecord& one) { return one.variable == piece.variable; });
    const auto index = static_cast<size_t>(entry - extent.directory.begin());
    CAIRN_TRY(writer.add(extent.arrays[index], plain_order()));
  }
  return writer.finish();
}

}  // namespace cairn::checkpoint
