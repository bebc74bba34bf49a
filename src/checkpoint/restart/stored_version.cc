#include "checkpoint/restart/stored_version.h"

#include <algorithm>

#include "checkpoint/store/layout_files.h"
#include "checkpoint/version/catalogue.h"

namespace cairn::checkpoint {

Result<StoredVersion> StoredVersion::open(file::FileSystem& fs, uint64_t directory, Slot* slot,
                                          uint64_t sequence) {
  StoredVersion stored;
  stored.slot_ = slot;
  CAIRN_TRY_ASSIGN(lease, slot->take_lease());
  stored.lease_ = std::move(lease);
  CAIRN_TRY_ASSIGN(decision, slot->decision());
  stored.decision_ = decision;
  CAIRN_TRY_ASSIGN(content, look_at(*slot));
  if (content.state == SlotState::damaged || content.state == SlotState::newer)
    return content.status;
  if (content.state == SlotState::free || content.manifest.version().sequence != sequence)
    return fail(ESTALE, "%s: holds another version", manifest_name(slot->ids().number).c_str());
  stored.manifest_ = std::move(content.manifest);
  CAIRN_TRY_ASSIGN(contents, load_contents(fs, directory, layout_of(stored.version())));
  stored.contents_ = std::move(contents);
  const uint64_t data_bytes = slot->data_file().inode->size.load();
  if (const Status status = stored.manifest_.check_places(stored.contents_, data_bytes);
      !status.ok())
    return annotate(status, "%s", data_name(slot->ids().number).c_str());
  return stored;
}

uint64_t StoredVersion::bytes() const {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < version().part_ranks; ++i) bytes += root(i).region_bytes;
  return bytes;
}

Result<std::optional<Piece>> StoredVersion::piece_of(uint32_t rank, uint32_t variable) {
  auto found = packed_.find(rank);
  if (found == packed_.end()) {
    CAIRN_TRY_ASSIGN(packed, pack_region(contents_, rank));
    std::sort(packed.pieces.begin(), packed.pieces.end(),
              [](const Piece& a, const Piece& b) { return a.variable < b.variable; });
    found = packed_.emplace(rank, std::move(packed)).first;
  }
  const auto& pieces = found->second.pieces;
  const auto piece =
      std::lower_bound(pieces.begin(), pieces.end(), variable,
                       [](const Piece& one, uint32_t wanted) { return one.variable < wanted; });
  if (piece == pieces.end() || piece->variable != variable) return std::optional<Piece>();
  return std::optional<Piece>(*piece);
}

Status StoredVersion::check() {
  CAIRN_TRY_ASSIGN(now, slot_->decision());
  if (now == decision_) return Status();
  return fail(ESTALE, "%s: was retired while it was read",
              manifest_name(slot_->ids().number).c_str());
}

void for_each_stored_part(const Decomposition& decomposition, const Box& wanted,
                          const std::function<void(uint32_t rank, const Box& part)>& visit) {
  std::vector<std::pair<uint32_t, Box>> parts;
  decomposition.for_each_part(
      wanted, [&](uint32_t rank, const Box& part) { parts.emplace_back(rank, part); });
  if (decomposition.owner() == Owner::lowest_rank) std::reverse(parts.begin(), parts.end());
  for (const auto& [rank, part] : parts) visit(rank, part);
}

}  // namespace cairn::checkpoint
