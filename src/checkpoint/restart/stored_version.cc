#include "checkpoint/restart/stored_version.h"

#include <algorithm>

#include "base/crc32c_bulk.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/version/catalogue.h"

namespace cairn::checkpoint {

namespace {

Result<Contents> fetch_contents(PartClient* client, const Sha256Hash& hash) {
  CAIRN_TRY_ASSIGN(record, client->read_record(hash, true));
  CAIRN_TRY_ASSIGN(layout, Layout::read(std::move(record)));
  if (layout.hash() != hash) return fail(EUCLEAN, "%s: another layout", client->name().c_str());
  std::vector<Decomposition> decompositions;
  for (uint32_t i = 0; i < layout.decompositions(); ++i) {
    CAIRN_TRY_ASSIGN(bytes, client->read_record(layout.decomposition_hash(i), false));
    CAIRN_TRY_ASSIGN(one, Decomposition::read(std::move(bytes)));
    decompositions.push_back(std::move(one));
  }
  return Contents::make(std::move(layout), std::move(decompositions));
}

}  // namespace

Result<StoredVersion> StoredVersion::open(const Stores& stores, const KnownVersion& known) {
  StoredVersion stored;
  stored.exchange_ = stores.exchange;
  CAIRN_TRY(known.slot != 0 ? stored.open_here(stores, known) : stored.open_there(stores, known));
  if (stores.exchange == nullptr && stored.version().parts != 1)
    return fail(EHOSTDOWN, "it is of %u hosts, and this process reads the pool of its own",
                stored.version().parts);
  CAIRN_TRY(stored.find_contents(stores, known));
  CAIRN_TRY(stored.find_parts(stores, known));
  return stored;
}

Status StoredVersion::open_here(const Stores& stores, const KnownVersion& known) {
  CAIRN_TRY_ASSIGN(slot, stores.shelf->get(known.slot));
  slot_ = slot;
  CAIRN_TRY_ASSIGN(lease, slot->take_lease());
  lease_ = std::move(lease);
  CAIRN_TRY_ASSIGN(decision, slot->decision());
  decision_ = decision;
  CAIRN_TRY_ASSIGN(content, look_at(*slot));
  if (content.state == SlotState::damaged || content.state == SlotState::newer)
    return content.status;
  if (content.state == SlotState::free ||
      content.manifest.version().sequence != known.version.sequence)
    return fail(ESTALE, "%s: holds another version", manifest_name(slot->ids().number).c_str());
  manifest_ = std::move(content.manifest);
  return Status();
}

// From the node that has the first part. No version is retired while all ranks restart.
Status StoredVersion::open_there(const Stores& stores, const KnownVersion& known) {
  if (stores.exchange == nullptr || known.holders.empty())
    return fail(ENOENT, "this node has no part of it");
  PartClient client(stores.exchange, known.holders.front());
  const uint64_t sequence = known.version.sequence;
  std::vector<uint8_t> bytes(sizeof(VersionRecord));
  CAIRN_TRY(client.read_manifest(sequence, 0, bytes.data(), bytes.size()));
  CAIRN_TRY_ASSIGN(version, read_version(bytes.data(), bytes.size()));
  bytes.resize(static_cast<size_t>(version.manifest_length));
  CAIRN_TRY(client.read_manifest(sequence, 0, bytes.data(), bytes.size()));
  auto manifest = Manifest::read(std::move(bytes));
  if (!manifest.ok()) return annotate(manifest.status(), "%s", client.name().c_str());
  if (!manifest->is_committed_by(manifest->decision()) ||
      !is_same_version(manifest->version(), known.version))
    return fail(EUCLEAN, "%s: its manifest is another one", client.name().c_str());
  manifest_ = std::move(*manifest);
  return Status();
}

Status StoredVersion::find_contents(const Stores& stores, const KnownVersion& known) {
  const Sha256Hash hash = layout_of(version());
  auto contents = load_contents(stores.set->fs(), stores.set->directory(), hash);
  if (contents.code() == ENOENT && slot_ == nullptr && stores.exchange != nullptr) {
    PartClient client(stores.exchange, known.holders.front());
    contents = fetch_contents(&client, hash);
  }
  CAIRN_TRY(contents.status());
  contents_ = std::move(*contents);
  return Status();
}

Status StoredVersion::find_parts(const Stores& stores, const KnownVersion& known) {
  const uint32_t own = stores.exchange == nullptr ? 0 : stores.exchange->node();
  // The slot may hold another version by now.
  if (stores.exchange != nullptr && known.holders.size() != version().parts)
    return fail(ESTALE, "a version of %u hosts lies where one of %zu was", version().parts,
                known.holders.size());
  blocks_ = std::make_unique<BlockCache>();
  const uint64_t block_bytes = contents_.layout().block_bytes();
  for (uint32_t i = 0; i < version().parts; ++i) {
    Part part;
    part.record = manifest_.part(i);
    part.node = stores.exchange == nullptr ? own : known.holders[i];
    part.reader = part.node == own ? read_here(slot_, block_bytes)
                                   : read_from(PartClient(stores.exchange, part.node),
                                               version().sequence, block_bytes, blocks_.get());
    parts_.push_back(std::move(part));
  }
  // Of the part that the manifest belongs to.
  Part& part = parts_[version().part];
  for (uint32_t i = 0; i < version().part_ranks; ++i) part.roots.push_back(manifest_.root(i));
  part.has_roots = true;
  const uint64_t data_bytes =
      slot_ == nullptr ? max_data_file : slot_->data_file().inode->size.load();
  const Status status = check_places(version(), contents_, part.roots, data_bytes);
  if (status.ok() || slot_ == nullptr) return status;
  return annotate(status, "%s", data_name(slot_->ids().number).c_str());
}

Status StoredVersion::load_roots(Part* part) {
  if (part->has_roots) return Status();
  if (exchange_ == nullptr) return fail(EHOSTDOWN, "its part is on another node");
  PartClient client(exchange_, part->node);
  std::vector<RootRecord> roots(part->record.count);
  CAIRN_TRY(client.read_manifest(version().sequence, roots_offset, roots.data(),
                                 roots.size() * sizeof(RootRecord)));
  if (crc32c_bulk(0, roots.data(), roots.size() * sizeof(RootRecord)) != part->record.roots_crc)
    return fail(EUCLEAN, "%s: the roots of its ranks differ from their checksum",
                client.name().c_str());
  const bool is_regular = (part->record.flags & part_is_irregular) == 0;
  for (uint32_t i = 0; i < part->record.count; ++i)
    if (is_regular && roots[i].rank != part->record.first + part->record.stride * i)
      return fail(EUCLEAN, "%s: root %u is of another rank", client.name().c_str(), i);
  const Status placed = check_places(version(), contents_, roots, max_data_file);
  if (!placed.ok()) return annotate(placed, "%s", client.name().c_str());
  part->roots = std::move(roots);
  part->has_roots = true;
  return Status();
}

Result<StoredVersion::Place> StoredVersion::place_of(uint32_t rank) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const size_t index = (last_part_ + i) % parts_.size();
    Part& part = parts_[index];
    if ((part.record.flags & part_is_irregular) != 0) {
      CAIRN_TRY(load_roots(&part));
      for (uint32_t k = 0; k < part.roots.size(); ++k) {
        if (part.roots[k].rank != rank) continue;
        last_part_ = index;
        return Place{&part, k};
      }
      continue;
    }
    if (rank < part.record.first) continue;
    const uint32_t steps = part.record.count == 1 ? rank - part.record.first
                                                  : (rank - part.record.first) / part.record.stride;
    if (steps >= part.record.count || part.record.first + part.record.stride * steps != rank)
      continue;
    last_part_ = index;
    CAIRN_TRY(load_roots(&part));
    return Place{&part, steps};
  }
  return fail(EUCLEAN, "rank %u is in no part of the version", rank);
}

Result<RootRecord> StoredVersion::root_of(uint32_t rank) {
  CAIRN_TRY_ASSIGN(place, place_of(rank));
  return place.part->roots[place.root];
}

Result<Area> StoredVersion::region_of(uint32_t rank) {
  CAIRN_TRY_ASSIGN(root, root_of(rank));
  return Area{rank, false, root.region_offset, root.region_bytes, root.region_list_crc};
}

Result<Area> StoredVersion::extent_of(uint32_t rank) {
  CAIRN_TRY_ASSIGN(root, root_of(rank));
  return Area{rank, true, root.extent_offset, root.extent_bytes, root.extent_list_crc};
}

Result<PartReader*> StoredVersion::reader_of(uint32_t rank) {
  CAIRN_TRY_ASSIGN(place, place_of(rank));
  return place.part->reader.get();
}

uint64_t StoredVersion::bytes() const {
  uint64_t bytes = 0;
  for (const Part& part : parts_) bytes += part.record.bytes;
  if (version().parts != 1) return bytes;
  for (const RootRecord& root : parts_.front().roots)
    bytes += root.region_bytes + root.extent_bytes;
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
  if (slot_ == nullptr) return Status();
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
