#include "checkpoint/restart/stored_version.h"

#include <algorithm>

#include "base/crc32c_bulk.h"
#include "base/saved_failure.h"
#include "checkpoint/record/medium_errors.h"
#include "checkpoint/sources/fallback_part.h"
#include "checkpoint/sources/lower_part.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/versions/catalogue.h"
#include "file/data/io.h"

namespace cairn::checkpoint {

Result<StoredVersion> StoredVersion::open(const Stores& stores, const KnownVersion& known) {
  StoredVersion stored;
  stored.exchange_ = stores.exchange;
  if (stores.lower != nullptr)
    stored.lower_ = std::make_unique<LowerSource>(stores.lower, known.version.sequence);
  if (known.is_in_lower) {
    CAIRN_TRY(stored.open_in_lower(known));
  } else if (known.any_slot() != 0) {
    CAIRN_TRY_ASSIGN(slot, stored.hold(stores.slot_cache, known.any_slot()));
    CAIRN_TRY(stored.open_here(known, slot));
  } else {
    CAIRN_TRY(stored.open_there(known));
  }
  CAIRN_TRY(stored.find_contents(stores, known));
  CAIRN_TRY(stored.find_parts(stores, known));
  return stored;
}

// Takes a lease of a slot of this node.
Result<Slot*> StoredVersion::hold(SlotCache* slot_cache, uint32_t number) {
  for (const Held& held : slots_)
    if (held.slot->ids().number == number) return held.slot;
  CAIRN_TRY_ASSIGN(slot, slot_cache->get(number));
  Held held;
  held.slot = slot;
  CAIRN_TRY_ASSIGN(lease, slot->take_lease());
  held.lease = std::move(lease);
  CAIRN_TRY_ASSIGN(decision, slot->decision());
  held.decision = decision;
  slots_.push_back(std::move(held));
  return slot;
}

Status StoredVersion::open_here(const KnownVersion& known, Slot* slot) {
  CAIRN_TRY_ASSIGN(content, look_at(*slot));
  if (content.state == SlotState::damaged || content.state == SlotState::newer)
    return content.status;
  if (content.state == SlotState::free ||
      content.manifest.version().sequence != known.version.sequence)
    return fail(ESTALE, "%s: holds another version", manifest_name(slot->ids().number).c_str());
  manifest_ = std::move(content.manifest);
  return Status();
}

// Reads the manifest from the node that has the first part or its copy. No version is retired while
// all ranks restart.
Status StoredVersion::open_there(const KnownVersion& known) {
  const bool has_any = exchange_ != nullptr && (known.has(0) || known.has_copy(0));
  if (!has_any) return fail(ENOENT, "this node has no part of it");
  first_node_ = known.has(0) ? known.holders[0] : known.partners[0];
  PartClient client(exchange_, first_node_, 0);
  const uint64_t sequence = known.version.sequence;
  std::vector<uint8_t> bytes(sizeof(VersionRecord));
  CAIRN_TRY(client.read_manifest(sequence, 0, bytes.data(), bytes.size()));
  CAIRN_TRY_ASSIGN(version, read_version(bytes.data(), bytes.size()));
  CAIRN_TRY_ASSIGN(all, client.fetch_manifest(sequence, version.manifest_length));
  first_data_bytes_ = client.data_bytes();
  auto manifest = Manifest::read(std::move(all));
  if (!manifest.ok()) return annotate(manifest.status(), "%s", client.name().c_str());
  if (!manifest->is_committed_by(manifest->decision()) ||
      !is_same_version(manifest->version(), known.version) || manifest->version().part != 0)
    return fail(EUCLEAN, "%s: its manifest is another one", client.name().c_str());
  manifest_ = std::move(*manifest);
  return Status();
}

Status StoredVersion::open_in_lower(const KnownVersion& known) {
  CAIRN_TRY_ASSIGN(copy, lower_->copy());
  if (!is_same_version(copy->manifest.version(), known.version))
    return fail(EUCLEAN, "the copy in lower is of another version");
  manifest_ = copy->manifest;
  return Status();
}

// Reads the layout from the nodes that have parts of the version.
Result<Contents> StoredVersion::contents_there(const KnownVersion& known, const Sha256Hash& hash) {
  Result<Contents> contents = fail(ENOENT, "no other node has the layout");
  for (uint32_t i = 0; i < known.holders.size(); ++i) {
    if (!known.has(i) && !known.has_copy(i)) continue;
    const uint32_t node = known.has(i) ? known.holders[i] : known.partners[i];
    if (node == exchange_->node() && known.any_slot() != 0) continue;
    PartClient client(exchange_, node, i);
    contents =
        load_contents(hash, [&](const RecordFile& file) { return client.read_record(file); });
    if (contents.ok() || !is_of_medium(contents.status())) break;
  }
  return contents;
}

// Reads the layout from this pool or, if it is damaged there, from other nodes, then from lower.
Status StoredVersion::find_contents(const Stores& stores, const KnownVersion& known) {
  const Sha256Hash hash = layout_of(version());
  auto contents = load_contents(stores.set->fs(), stores.set->directory(), hash);
  const SavedFailure saved(contents.status());
  if (!contents.ok() && is_of_medium(contents.status()) && exchange_ != nullptr)
    contents = contents_there(known, hash);
  if (!contents.ok() && is_of_medium(contents.status()) && lower_ != nullptr)
    contents = lower_->read_contents(hash);
  if (!contents.ok() && !saved.ok()) return saved.restored();
  contents_ = std::move(*contents);
  return Status();
}

// Returns where bytes of a part can be read: the part itself first, then its copy, then lower.
Result<std::vector<StoredVersion::Source>> StoredVersion::sources_of(const Stores& stores,
                                                                     const KnownVersion& known,
                                                                     uint32_t part) {
  std::vector<Source> sources;
  const auto add_lower = [&] {
    if (lower_ != nullptr) sources.push_back({no_node, nullptr, true, true});
    return sources;
  };
  if (known.is_in_lower) return add_lower();
  if (exchange_ == nullptr) {
    const uint32_t number = known.slot_of(part);
    if (number == 0) return add_lower();  // if it adds none, readers of the part get an error
    CAIRN_TRY_ASSIGN(slot, hold(stores.slot_cache, number));
    sources.push_back({0, slot, number != known.slot});
    return add_lower();
  }
  const auto add = [&](uint32_t node, bool is_copy) -> Status {
    Source source{node, nullptr, is_copy};
    // A rank that does not know the slot of its node asks its leader.
    const uint32_t number = node == exchange_->node() ? known.slot_of(part) : 0;
    if (number != 0) {
      CAIRN_TRY_ASSIGN(slot, hold(stores.slot_cache, number));
      source.slot = slot;
    } else if (slots_.empty() && part == 0 && node == first_node_) {
      source.told_bytes = first_data_bytes_;
    }
    sources.push_back(source);
    return Status();
  };
  if (known.has(part)) CAIRN_TRY(add(known.holders[part], false));
  if (known.has_copy(part)) CAIRN_TRY(add(known.partners[part], true));
  if (sources.empty() && lower_ == nullptr) return fail(EUCLEAN, "its part %u is missing", part);
  return add_lower();
}

std::unique_ptr<PartReader> StoredVersion::reader_from(const Source& source, uint32_t part) {
  const uint64_t block_bytes = contents_.layout().block_bytes();
  if (source.is_in_lower) return read_lower(lower_.get(), version(), part, block_bytes);
  if (source.slot != nullptr) return read_here(source.slot, block_bytes);
  return read_from(PartClient(exchange_, source.node, part), version().sequence, block_bytes,
                   blocks_.get());
}

Status StoredVersion::find_parts(const Stores& stores, const KnownVersion& known) {
  // The slot may have been used for another version since.
  if (exchange_ != nullptr && !known.is_in_lower && known.holders.size() != version().parts)
    return fail(ESTALE, "a version of %u hosts lies where one of %zu was", version().parts,
                known.holders.size());
  blocks_ = std::make_unique<BlockCache>();
  for (uint32_t i = 0; i < version().parts; ++i) {
    Part part;
    part.record = manifest_.part(i);
    CAIRN_TRY_ASSIGN(sources, sources_of(stores, known, i));
    part.sources = std::move(sources);
    // The manifest has the roots of its own part.
    if (i == version().part) {
      for (uint32_t k = 0; k < version().part_ranks; ++k) part.roots.push_back(manifest_.root(k));
      part.has_roots = true;
      CAIRN_TRY(check_own_places(&part, part.roots));
    }
    read_sources(&part, i);
    parts_.push_back(std::move(part));
  }
  return Status();
}

// Makes one reader of all sources of a part: each source is read where those before it are damaged.
void StoredVersion::read_sources(Part* part, uint32_t number) {
  for (auto source = part->sources.rbegin(); source != part->sources.rend(); ++source) {
    auto reader = reader_from(*source, number);
    part->reader = part->reader == nullptr
                       ? std::move(reader)
                       : read_with_fallback(std::move(reader), std::move(part->reader),
                                            contents_.layout().block_bytes(), part->why.get());
  }
}

std::string StoredVersion::name_of(const Source& source) const {
  if (source.is_in_lower) return "the copy in lower";
  return source.slot == nullptr ? exchange_->name_of(source.node)
                                : data_name(source.slot->ids().number);
}

// Drops the sources whose data file is too short. EUCLEAN: no source is left.
Status StoredVersion::check_own_places(Part* part, const std::vector<RootRecord>& roots) {
  CAIRN_TRY(check_places(version(), contents_, roots, max_data_file));
  for (size_t i = 0; i < part->sources.size();) {
    const Source& source = part->sources[i];
    const Status placed = check_places(version(), contents_, roots, source.data_bytes());
    if (placed.ok()) {
      ++i;
      continue;
    }
    const Status status = annotate(placed, "%s", name_of(source).c_str());
    if (part->sources.size() == 1) return status;
    if (i == 0) *part->why = last_detail();
    part->sources.erase(part->sources.begin() + static_cast<ptrdiff_t>(i));
  }
  return Status();
}

uint32_t StoredVersion::parts_from_copies() const {
  return static_cast<uint32_t>(std::count_if(parts_.begin(), parts_.end(), [](const Part& part) {
    return (!part.sources.empty() && part.sources.front().is_copy) || !part.why->empty();
  }));
}

std::string StoredVersion::why_copies() const {
  for (const Part& part : parts_)
    if (!part.why->empty()) return *part.why;
  return "";
}

StoredVersion::Presence StoredVersion::presence_of(uint32_t part) const {
  const std::vector<Source>& sources = parts_[part].sources;
  if (sources.empty()) return Presence::none;
  return sources.front().is_copy ? Presence::copy : Presence::own;
}

Result<std::vector<uint32_t>> StoredVersion::ranks_of(uint32_t part) {
  Part& one = parts_[part];
  std::vector<uint32_t> ranks;
  if ((one.record.flags & part_is_irregular) != 0) {
    CAIRN_TRY(load_roots(&one));
    for (const RootRecord& root : one.roots) ranks.push_back(root.rank);
    return ranks;
  }
  // Manifest::read() has checked that all are below the version's number of ranks.
  for (uint32_t i = 0; i < one.record.count; ++i)
    ranks.push_back(one.record.first + one.record.stride * i);
  return ranks;
}

Status StoredVersion::load_roots(Part* part) {
  if (part->has_roots) return Status();
  Status status;
  if (part->sources.empty())
    return fail(EHOSTDOWN, "it is of %u hosts, and this process reads the pool of its own",
                version().parts);
  SavedFailure first;
  for (const Source& source : part->sources) {
    status = load_roots_from(source, part);
    if (!status.ok() && is_of_medium(status)) {
      first.keep(status);
      continue;
    }
    if (status.ok() && !first.ok() && part->why->empty()) *part->why = first.text();
    return status;
  }
  return first.restored();
}

Status StoredVersion::load_roots_from(const Source& source, Part* part) {
  const size_t bytes = sizeof(RootRecord) * size_t{part->record.count};
  std::vector<RootRecord> roots(part->record.count);
  std::string name;
  uint64_t data_bytes = source.data_bytes();
  if (source.is_in_lower) {
    const auto number = static_cast<uint32_t>(part - parts_.data());
    CAIRN_TRY_ASSIGN(copy, lower_->part(version(), number));
    if (copy->manifest.version().part_ranks != part->record.count)
      return fail(EUCLEAN, "the copy in lower has another number of ranks");
    for (uint32_t i = 0; i < part->record.count; ++i) roots[i] = copy->manifest.root(i);
    name = "the copy in lower";
  } else if (source.slot != nullptr) {
    name = manifest_name(source.slot->ids().number);
    CAIRN_TRY_ASSIGN(
        got, file::read_at(source.slot->manifest_file(), roots.data(), bytes, roots_offset));
    if (got != bytes) return fail(EUCLEAN, "%s: cut off", name.c_str());
  } else {
    PartClient client(exchange_, source.node, static_cast<uint32_t>(part - parts_.data()));
    name = client.name();
    CAIRN_TRY(client.read_manifest(version().sequence, roots_offset, roots.data(), bytes));
    data_bytes = client.data_bytes();
  }
  // A version of one part has no such checksum, but its manifest was read as a whole.
  if (crc32c_bulk(0, roots.data(), bytes) != part->record.roots_crc)
    return fail(EUCLEAN, "%s: the roots of its ranks differ from their checksum", name.c_str());
  const bool is_regular = (part->record.flags & part_is_irregular) == 0;
  for (uint32_t i = 0; i < part->record.count; ++i)
    if (is_regular && roots[i].rank != part->record.first + part->record.stride * i)
      return fail(EUCLEAN, "%s: root %u is of another rank", name.c_str(), i);
  const Status placed = check_places(version(), contents_, roots, data_bytes);
  if (!placed.ok()) return annotate(placed, "%s", name.c_str());
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
  for (const Held& held : slots_) {
    CAIRN_TRY_ASSIGN(now, held.slot->decision());
    if (now != held.decision)
      return fail(ESTALE, "%s: was retired while it was read",
                  manifest_name(held.slot->ids().number).c_str());
  }
  return Status();
}

}  // namespace cairn::checkpoint
