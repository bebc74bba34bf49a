#include "checkpoint/redundancy/partner_copy.h"

#include <algorithm>
#include <cstring>

#include "base/saved_failure.h"
#include "checkpoint/layout/checksum_list.h"
#include "checkpoint/store/block_check.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/versions/commit_part.h"
#include "checkpoint/versions/part_questions.h"
#include "file/data/bulk_write.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t bytes_at_once = uint64_t{1} << 20;
constexpr unsigned error_shift = 32;  // above the number of a node

// Returns the manifest with the table of parts, as this node committed it.
Result<Manifest> own_manifest(SlotCache* slot_cache, const KnownVersion& known) {
  CAIRN_TRY_ASSIGN(slot, slot_cache->get(known.slot));
  CAIRN_TRY_ASSIGN(manifest, slot->read_manifest());
  if (manifest.version().sequence != known.version.sequence)
    return fail(ESTALE, "%s: holds another version", manifest_name(slot->ids().number).c_str());
  return manifest;
}

class CopyMaker {
 public:
  CopyMaker(Run* run, SlotCache* slot_cache, const KnownVersion& known, const Manifest& own,
            const Contents& contents)
      : run_(*run), slot_cache_(*slot_cache), known_(known), own_(own), contents_(contents) {}

  Result<HeldCopy> make(uint32_t part) {
    PartClient client(run_.exchange(), known_.holders[part], part);
    auto source = read_manifest(&client, part);
    if (!source.ok()) return annotate(source.status(), "%s: part %u", client.name().c_str(), part);
    bool is_new = false;
    const auto slot = take_slot(*source, &is_new);
    if (!slot.ok())
      return annotate(slot.status(), "copy of part %u of %s", part, client.name().c_str());
    const uint32_t number = (*slot)->ids().number;
    const Status status = fill(&client, *slot, *source);
    if (status.ok()) return HeldCopy{part, number};
    const SavedFailure saved(status);
    lease_ = {};
    // The blocks of a new slot are freed for others.
    if (is_new && status.code() == ENOSPC) {
      slot_cache_.drop(number);
      remove_slot(fs(), run_.set().directory(), number).ignore();  // the slot stays free then
    }
    return annotate(saved.restored(), "copy of part %u of %s", part, client.name().c_str());
  }

 private:
  [[nodiscard]] file::FileSystem& fs() const { return run_.set().fs(); }

  // Reads the manifest of the node that has the part, and checks that it is of the version and part
  // that this node knows.
  Result<Manifest> read_manifest(PartClient* client, uint32_t part) const {
    const uint64_t sequence = known_.version.sequence;
    std::vector<uint8_t> bytes(sizeof(VersionRecord));
    CAIRN_TRY(client->read_manifest(sequence, 0, bytes.data(), bytes.size()));
    CAIRN_TRY_ASSIGN(version, read_version(bytes.data(), bytes.size()));
    if (version.part != part || !is_same_version(version, own_.version()))
      return fail(EUCLEAN, "its VERSION differs from this node's");
    CAIRN_TRY_ASSIGN(all, client->fetch_manifest(sequence, version.manifest_length));
    CAIRN_TRY_ASSIGN(manifest, Manifest::read(std::move(all)));
    const PartRecord wanted = own_.part(part);
    const bool is_right =
        manifest.version().part == part && is_same_version(manifest.version(), own_.version()) &&
        manifest.is_committed_by(manifest.decision()) && manifest.parts_crc() == own_.parts_crc() &&
        manifest.roots_crc() == wanted.roots_crc &&
        std::memcmp(manifest.version().holder, wanted.pool, sizeof wanted.pool) == 0;
    if (!is_right) return fail(EUCLEAN, "its manifest differs from this node's");
    CAIRN_TRY(manifest.check_places(contents_, client->data_bytes()));
    return manifest;
  }

  // Takes a slot that no rank of this node can take for a version meanwhile.
  Result<Slot*> take_slot(const Manifest& source, bool* is_new) {
    Slot* slot = nullptr;
    CAIRN_TRY(run_.locked([&]() -> Status {
      CAIRN_TRY_ASSIGN(found, slot_cache_.take_free(source.version().manifest_length,
                                                    source.data_end(block_bytes()), is_new));
      CAIRN_TRY_ASSIGN(lease, found->take_lease());
      lease_ = std::move(lease);
      slot = found;
      return Status();
    }));
    return slot;
  }

  [[nodiscard]] uint64_t block_bytes() const { return contents_.layout().block_bytes(); }

  // Fills the slot. The VERSION is written last: until then the slot's old one says that its
  // version is retired.
  Status fill(PartClient* client, Slot* slot, const Manifest& source) {
    for (uint32_t i = 0; i < source.version().part_ranks; ++i) {
      const RootRecord root = source.root(i);
      CAIRN_TRY(fetch(client, slot, root.region_offset, root.region_bytes));
      CAIRN_TRY(fetch(client, slot, root.extent_offset, root.extent_bytes));
    }
    const std::vector<uint8_t>& bytes = source.bytes();
    file::File& manifest = slot->manifest_file();
    CAIRN_TRY(file::write_bulk(manifest, bytes.data() + roots_offset, bytes.size() - roots_offset,
                               roots_offset));
    static constexpr uint8_t zeros[roots_offset - attempts_offset] = {};
    CAIRN_TRY(file::write_bulk(manifest, zeros, sizeof zeros, attempts_offset));
    CAIRN_TRY(fs().pool.fence_bytes());
    for (uint32_t i = 0; i < source.version().part_ranks; ++i) {
      const RootRecord root = source.root(i);
      CAIRN_TRY(
          compare(slot, root.rank, root.region_offset, root.region_bytes, root.region_list_crc));
      CAIRN_TRY(
          compare(slot, root.rank, root.extent_offset, root.extent_bytes, root.extent_list_crc));
    }
    VersionRecord version = source.version();
    const Uuid holder = pool_uuid(fs());
    std::memcpy(version.holder, holder.data(), holder.size());
    CAIRN_TRY(seal_version(&version));
    CAIRN_TRY(file::write_bulk(manifest, &version, sizeof version, 0));
    CAIRN_TRY(fs().pool.fence_bytes());
    CAIRN_TRY(commit_slot(fs(), slot, version.sequence));
    return Status();
  }

  // Fetches a region or an extent with its list, to the same place.
  Status fetch(PartClient* client, Slot* slot, uint64_t offset, uint64_t bytes) {
    uint64_t left = bytes == 0 ? 0 : bytes_with_list(bytes, block_bytes());
    buffer_.resize(static_cast<size_t>(bytes_at_once));
    while (left != 0) {
      const uint64_t n = std::min(left, bytes_at_once);
      CAIRN_TRY(client->read_data(known_.version.sequence, offset, buffer_.data(), n));
      CAIRN_TRY(
          file::write_bulk(slot->data_file(), buffer_.data(), static_cast<size_t>(n), offset));
      offset += n;
      left -= n;
    }
    return Status();
  }

  // Compares the bytes with the checksums of the commit, in place.
  Status compare(Slot* slot, uint32_t rank, uint64_t offset, uint64_t bytes, uint32_t list_crc) {
    if (bytes == 0) return Status();
    const std::string name = data_name(slot->ids().number);
    CAIRN_TRY_ASSIGN(list, read_list(in_pool(slot->data_file(), name), offset, bytes, block_bytes(),
                                     list_crc, rank));
    return check_blocks(in_pool(slot->data_file(), name), offset, bytes, block_bytes(), list,
                        {{0, list.size()}}, rank);
  }

  Run& run_;
  SlotCache& slot_cache_;
  const KnownVersion& known_;
  const Manifest& own_;
  const Contents& contents_;
  Lease lease_;
  std::vector<uint8_t> buffer_;
};

// Makes a leader's copies. `made` also contains copies that were made before an error.
Status hold_copies(Run* run, SlotCache* slot_cache, const KnownVersion& known,
                   const Partners& partners, std::vector<HeldCopy>* made) {
  const std::vector<uint32_t>& holders = partners.holders;
  const bool holds_any = std::find(holders.begin(), holders.end(), run->node()) != holders.end();
  if (!holds_any) return Status();
  CAIRN_TRY_ASSIGN(own, own_manifest(slot_cache, known));
  CAIRN_TRY_ASSIGN(
      contents, load_contents(run->set().fs(), run->set().directory(), layout_of(own.version())));
  for (uint32_t part = 0; part < own.version().parts && part < holders.size(); ++part) {
    if (holders[part] != run->node() || known.slot_of(part) != 0) continue;
    if (own.part(part).partner != own.version().part + 1)
      return fail(EUCLEAN, "part %u has its copy on another node", part);
    CAIRN_TRY_ASSIGN(copy, CopyMaker(run, slot_cache, known, own, contents).make(part));
    made->push_back(copy);
  }
  return Status();
}

// Finds the copies that this node's leader has made.
Result<std::vector<HeldCopy>> find_copies(const SetFile& set, SlotCache* slot_cache,
                                          const KnownVersion& known) {
  std::vector<HeldCopy> copies;
  CAIRN_TRY_ASSIGN(listing, list_set(set.fs(), set.directory()));
  for (const ListedSlot& listed : listing.slots) {
    if (!listed.has_manifest || !listed.has_data || listed.number == known.slot) continue;
    const auto slot = Slot::open(set.fs(), set.directory(), listed.number);
    if (!slot.ok()) continue;
    const auto version = (*slot)->read_version();
    const auto decision = (*slot)->decision();
    const bool is_one = version.ok() && decision.ok() && says_committed(*decision) &&
                        is_same_version(*version, known.version) &&
                        version->part != known.version.part;
    if (!is_one) continue;
    slot_cache->drop(listed.number);  // the slot may have had other files
    copies.push_back({version->part, listed.number});
  }
  return copies;
}

}  // namespace

Status copy_to_partners(Run* run, SlotCache* slot_cache, Writer* writer, KnownVersion known) {
  const uint64_t sequence = known.version.sequence;
  // All ranks meet first: a node that does not yet know that the version is committed could not
  // answer for its part.
  CAIRN_TRY(run->barrier_max(Run::Purpose::copy, 0, writer->sequence()).status());
  Status own;
  std::vector<HeldCopy> copies;
  if (run->is_leader()) own = hold_copies(run, slot_cache, known, writer->partners(), &copies);
  const SavedFailure saved(own);
  const int64_t says = own.ok() ? 0 : static_cast<int64_t>(own.code()) << error_shift | run->node();
  CAIRN_TRY_ASSIGN(worst, run->barrier_max(Run::Purpose::copy, says, writer->sequence()));
  const auto error = static_cast<int>(worst >> error_shift);
  if (error == 0 && !run->is_leader()) {
    auto of_node = find_copies(run->set(), slot_cache, known);
    if (of_node.ok()) copies = std::move(*of_node);  // otherwise this rank asks its leader
  }
  writer->note_copies(sequence, copies, error);
  if (error == 0) return Status();
  if (!own.ok()) return fail(error, "%s", saved.text().c_str());
  return fail(error, "%s holds no copy: %s",
              run->exchange()->name_of(static_cast<uint32_t>(worst)).c_str(), strerror(error));
}

}  // namespace cairn::checkpoint
