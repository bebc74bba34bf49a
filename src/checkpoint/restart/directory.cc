#include "checkpoint/restart/directory.h"

#include "checkpoint/layout/packing.h"

namespace cairn::checkpoint {
namespace {

std::vector<uint32_t> counted_in(const Contents& contents) {
  std::vector<uint32_t> variables;
  const Layout& layout = contents.layout();
  for (uint32_t i = 0; i < layout.variables(); ++i)
    if (contents.is_counted(layout.variable(i))) variables.push_back(i);
  return variables;
}

Status damaged(uint32_t rank) { return fail(EUCLEAN, "the directory of rank %u is damaged", rank); }

}  // namespace

uint64_t directory_bytes(const Contents& contents) {
  return counted_in(contents).size() * sizeof(DirectoryRecord);
}

Result<Directory> read_directory(const Contents& contents, const std::vector<uint8_t>& bytes,
                                 uint64_t extent_bytes, uint32_t rank) {
  const Layout& layout = contents.layout();
  const std::vector<uint32_t> variables = counted_in(contents);
  if (bytes.size() != variables.size() * sizeof(DirectoryRecord)) return damaged(rank);
  Directory directory;
  std::vector<Piece> pieces;
  for (size_t i = 0; i < variables.size(); ++i) {
    const auto entry = record_at<DirectoryRecord>(bytes.data() + i * sizeof(DirectoryRecord));
    uint64_t its_bytes = 0;
    if (entry.variable != variables[i] ||
        __builtin_mul_overflow(entry.elements, layout.variable(entry.variable).element_size,
                               &its_bytes) ||
        its_bytes != entry.bytes || its_bytes > extent_bytes)
      return damaged(rank);
    directory.push_back(entry);
    pieces.push_back({entry.variable, 0, entry.bytes});
  }
  const auto packed = pack(layout, std::move(pieces), bytes.size());
  if (!packed.ok()) return damaged(rank);
  for (const Piece& piece : packed->pieces)
    for (const DirectoryRecord& entry : directory)
      if (entry.variable == piece.variable && entry.offset != piece.offset) return damaged(rank);
  if (packed->bytes != extent_bytes) return fail(EUCLEAN, "the extent of rank %u is damaged", rank);
  return directory;
}

}  // namespace cairn::checkpoint
