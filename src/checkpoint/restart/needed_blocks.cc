#include "checkpoint/restart/needed_blocks.h"

#include <algorithm>

#include "base/crc32c_bulk.h"
#include "checkpoint/store/checksum_list.h"
#include "file/io.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t read_at_once = uint64_t{64} << 10;

Status read_exactly(file::File& file, void* bytes, uint64_t size, uint64_t offset,
                    const std::string& name) {
  CAIRN_TRY_ASSIGN(read, file::read_at(file, bytes, static_cast<size_t>(size), offset));
  if (read == size) return Status();
  const unsigned long long end = offset + read;
  return fail(EUCLEAN, "%s: cut off at offset %llu", name.c_str(), end);
}

}  // namespace

Status NeededBlocks::add(uint32_t variable, const Box& wanted) {
  if (is_empty(wanted)) return Status();
  const Variable stored = stored_.contents().layout().variable(variable);
  Status status;
  for_each_stored_part(stored_.contents().decomposition_of(stored), wanted,
                       [&](uint32_t rank, const Box& part) {
                         if (status.ok()) status = add_part(variable, rank, part);
                       });
  return status;
}

Status NeededBlocks::add_part(uint32_t variable, uint32_t rank, const Box& part) {
  CAIRN_TRY_ASSIGN(piece, stored_.piece_of(rank, variable));
  if (!piece) return fail(EUCLEAN, "rank %u stores no part of a variable that it has", rank);
  const Variable stored = stored_.contents().layout().variable(variable);
  const Box whole = stored_.contents().decomposition_of(stored).box_of(rank);
  const uint64_t bytes = stored_.root(rank).region_bytes;
  auto& needed = needed_[rank];
  needed.resize(static_cast<size_t>(blocks_of(bytes, stored_.contents().layout().block_bytes())));
  if (part == whole) {
    mark(&needed, piece->offset, piece->bytes);
    return Status();
  }
  Runs runs = runs_in(whole, part, stored.order);
  Runs::Run run;
  while (runs.next(&run))
    mark(&needed, piece->offset + static_cast<uint64_t>(run.offset) * stored.element_size,
         run.size * stored.element_size);
  return Status();
}

void NeededBlocks::mark(std::vector<bool>* needed, uint64_t offset, uint64_t size) const {
  const uint64_t block = stored_.contents().layout().block_bytes();
  for (uint64_t i = offset / block; i <= (offset + size - 1) / block; ++i)
    (*needed)[static_cast<size_t>(i)] = true;
}

uint64_t NeededBlocks::blocks() const {
  uint64_t count = 0;
  for (const auto& [rank, needed] : needed_)
    count += static_cast<uint64_t>(std::count(needed.begin(), needed.end(), true));
  return count;
}

Status NeededBlocks::verify() {
  for (const auto& [rank, needed] : needed_) CAIRN_TRY(verify_region(rank, needed));
  return Status();
}

Status NeededBlocks::verify_region(uint32_t rank, const std::vector<bool>& needed) {
  const std::string name = data_name(stored_.slot().ids().number);
  const RootRecord root = stored_.root(rank);
  const uint64_t block_bytes = stored_.contents().layout().block_bytes();
  std::vector<uint32_t> list(needed.size());
  CAIRN_TRY(read_exactly(stored_.data(), list.data(), list.size() * sizeof(uint32_t),
                         root.region_offset + list_offset(root.region_bytes), name));
  if (crc_of_list(list) != root.region_list_crc)
    return fail(EUCLEAN, "%s: the checksums of rank %u's bytes differ from their own checksum",
                name.c_str(), rank);
  std::vector<uint8_t> buffer(static_cast<size_t>(read_at_once));
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    const uint64_t begin = i * block_bytes;
    const uint64_t end = std::min(begin + block_bytes, root.region_bytes);
    uint32_t crc = 0;
    for (uint64_t at = begin; at < end; at += read_at_once) {
      const uint64_t n = std::min(read_at_once, end - at);
      CAIRN_TRY(read_exactly(stored_.data(), buffer.data(), n, root.region_offset + at, name));
      crc = crc32c_bulk(crc, buffer.data(), static_cast<size_t>(n));
    }
    if (crc != list[i])
      return fail(EUCLEAN, "%s: bytes of rank %u differ from their checksum: block %zu of %zu",
                  name.c_str(), rank, i, needed.size());
  }
  return Status();
}

}  // namespace cairn::checkpoint
