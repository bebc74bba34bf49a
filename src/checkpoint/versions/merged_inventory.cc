#include "checkpoint/versions/merged_inventory.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/crc32c_bulk.h"
#include "checkpoint/versions/commit_part.h"
#include "checkpoint/versions/part_questions.h"

namespace cairn::checkpoint {
namespace {

constexpr size_t text_bytes = 200;

// A version, and the first part of it that was found.
struct Found {
  KnownVersion known;
  const InventoryPart* first = nullptr;
  uint32_t first_node = 0;
};

void note_first(Found* found, uint32_t node, const InventoryPart& part) {
  if (found->first != nullptr) return;
  found->first = &part;
  found->first_node = node;
  found->known.version = part.version;
  found->known.holders.assign(part.version.parts, no_node);
}

bool is_same_as_first(const Found& found, const InventoryPart& part) {
  return is_same_version(found.first->version, part.version) &&
         found.first->parts_crc == part.parts_crc;
}

// Notes a copy, after all parts themselves. A copy of another version than that of the parts does
// not count.
void note_copy(Found* found, uint32_t node, uint32_t own, const InventoryPart& part) {
  note_first(found, node, part);
  if (!is_same_as_first(*found, part)) return;
  KnownVersion& known = found->known;
  known.partners.resize(part.version.parts, no_node);
  uint32_t& partner = known.partners[part.version.part];
  if (partner != no_node) return;
  partner = node;
  known.attempts = std::max(known.attempts, part.attempts);
  if (node == own) known.copies.push_back({part.version.part, part.slot});
}

void note_part(Found* found, uint32_t node, uint32_t own, const InventoryPart& part) {
  KnownVersion& known = found->known;
  note_first(found, node, part);
  const bool is_same = is_same_as_first(*found, part);
  uint32_t& holder = known.holders[is_same ? part.version.part : 0];
  if (!is_same || (holder != no_node && holder != node)) {
    known.missing = "nodes say different things of it";
    return;
  }
  holder = node;
  known.attempts = std::max(known.attempts, part.attempts);
  if (node != own) return;
  // All nodes use the time of the first part.
  const uint64_t begun = known.version.begun;
  known.slot = part.slot;
  known.version = part.version;
  known.version.begun = begun;
}

// Returns the first part that is nowhere; the number of parts if there is none.
uint32_t first_missing(const KnownVersion& known) {
  uint32_t part = 0;
  while (part < known.holders.size() && (known.has(part) || known.has_copy(part))) ++part;
  return part;
}

// Returns the first part that is there only as a copy.
uint32_t first_replaced(const KnownVersion& known) {
  uint32_t part = 0;
  while (part < known.holders.size() && known.has(part)) ++part;
  return part;
}

bool is_replaced(const KnownVersion& known) {
  return known.missing.empty() && first_replaced(known) != known.holders.size();
}

// A version that lacks a part itself, as its first holder knows it.
struct Lack {
  uint64_t sequence;
  uint32_t lacks_node;
  uint32_t is_replaced;  // by its copy
  char text[text_bytes];
};

class MergedInventory {
 public:
  MergedInventory(Run* run, SlotCache* slot_cache, Catalogue* catalogue)
      : run_(*run), slot_cache_(*slot_cache), catalogue_(*catalogue) {}

  Status join() {
    CAIRN_TRY(send_inventory());
    Status decided;
    if (run_.is_leader()) decided = decide_own();
    CAIRN_TRY(agree(decided));
    CAIRN_TRY(tell_adopted());
    std::vector<KnownVersion> versions = join_versions(nodes_, run_.node());
    CAIRN_TRY(tell_lacks(&versions));
    std::vector<DamagedSlot> damaged;
    std::string newer;
    uint64_t last = 0;
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      last = std::max(last, nodes_[node].last_sequence);
      if (newer.empty() && !nodes_[node].newer.empty()) newer = at(node) + nodes_[node].newer;
      for (const DamagedSlot& slot : nodes_[node].damaged)
        damaged.push_back({at(node) + slot.text, slot.sequence});
    }
    // If a version that lost a part on one node is reported as incomplete, a damaged slot of an
    // unknown version counts as that one.
    const bool is_told = std::any_of(versions.begin(), versions.end(), [](const auto& known) {
      return (!known.missing.empty() || !known.replaced.empty()) && !known.lacks_node;
    });
    if (run_.exchange() != nullptr && is_told)
      std::erase_if(damaged, [](const DamagedSlot& slot) { return slot.sequence == 0; });
    catalogue_.put_all(std::move(versions), std::move(damaged), newer, last);
    run_.set_last_sequence(last);
    return Status();
  }

 private:
  // Returns the prefix for messages of a node.
  [[nodiscard]] std::string at(uint32_t node) const {
    return run_.exchange() == nullptr ? "" : run_.exchange()->name_of(node) + ": ";
  }

  Status agree(const Status& own) {
    if (run_.exchange() == nullptr) return own;
    const std::string text = own.ok() ? "" : last_detail();
    CAIRN_TRY_ASSIGN(worst, run_.exchange()->maximum(own.code()));
    if (!own.ok()) return fail(own.code(), "%s", text.c_str());
    return worst == 0 ? Status()
                      : fail(static_cast<int>(worst), "another node cannot decide its versions: %s",
                             strerror(static_cast<int>(worst)));
  }

  Status send_inventory() {
    Blobs blobs = {encode_inventory(catalogue_.inventory())};
    if (run_.exchange() != nullptr) {
      CAIRN_TRY_ASSIGN(all, gather_blobs_to_all(run_.exchange(), blobs[0]));
      blobs = std::move(all);
    }
    for (const auto& blob : blobs) {
      CAIRN_TRY_ASSIGN(inventory, decode_inventory(blob));
      nodes_.push_back(std::move(inventory));
    }
    return Status();
  }

  // Decides this node's parts that were prepared and never decided.
  Status decide_own() {
    const uint32_t own = run_.node();
    for (const InventoryPart& part : nodes_[own].parts) {
      if (part.is_committed) continue;
      CAIRN_TRY_ASSIGN(slot, slot_cache_.get(part.slot));
      const auto committed = find_committed(nodes_, own, part);
      if (committed && run_.exchange() != nullptr) {
        CAIRN_TRY_ASSIGN(is_adopted, adopt(slot, part, *committed));
        if (is_adopted) {
          adopted_.push_back(part.version.sequence);
          continue;
        }
      }
      abort_slot(run_.set().fs(), slot, part.version.sequence);
    }
    return Status();
  }

  // Stores the table of parts of another node, which says that the version exists. Returns false if
  // this part is not the one that was committed.
  Result<bool> adopt(Slot* slot, const InventoryPart& part, uint32_t node) {
    const InventoryPart& there = *nodes_[node].find_committed(part.version.sequence);
    std::vector<PartRecord> parts(there.version.parts);
    PartClient client(run_.exchange(), node, there.version.part);
    CAIRN_TRY(client.read_manifest(there.version.sequence, there.version.parts_offset, parts.data(),
                                   parts.size() * sizeof(PartRecord)));
    if (crc32c_bulk(0, parts.data(), parts.size() * sizeof(PartRecord)) != there.parts_crc)
      return fail(EIO, "%s: its parts changed on the way", client.name().c_str());
    const PartRecord& own = parts[part.version.part];
    const Uuid pool = pool_uuid(run_.set().fs());
    if (own.roots_crc != part.roots_crc || std::memcmp(own.pool, pool.data(), pool.size()) != 0)
      return false;
    CAIRN_TRY(commit_part(run_.set().fs(), slot, part.version.sequence, parts));
    return true;
  }

  // Tells all ranks which parts leaders adopted.
  Status tell_adopted() {
    std::vector<uint8_t> own(adopted_.size() * sizeof(uint64_t));
    if (!own.empty()) std::memcpy(own.data(), adopted_.data(), own.size());
    if (run_.exchange() == nullptr) return Status();
    CAIRN_TRY_ASSIGN(blobs, gather_blobs_to_all(run_.exchange(), own));
    // All tables are looked up first, among parts that were committed before.
    std::vector<InventoryPart*> parts;
    for (uint32_t node = 0; node < nodes_.size() && node < blobs.size(); ++node) {
      for (size_t i = 0; i + sizeof(uint64_t) <= blobs[node].size(); i += sizeof(uint64_t)) {
        const auto sequence = record_at<uint64_t>(blobs[node].data() + i);
        for (InventoryPart& part : nodes_[node].parts) {
          if (part.version.sequence != sequence || part.is_committed) continue;
          const auto committed = find_committed(nodes_, node, part);
          if (!committed) return fail(EPROTO, "%s: adopted a part", at(node).c_str());
          part.parts_crc = nodes_[*committed].find_committed(sequence)->parts_crc;
          parts.push_back(&part);
        }
      }
    }
    for (InventoryPart* part : parts) part->is_committed = true;
    return Status();
  }

  // Tells why versions are incomplete: their first holders read the table of parts and tell all
  // ranks.
  Status tell_lacks(std::vector<KnownVersion>* versions) {
    std::vector<Lack> lacks;
    for (const KnownVersion& known : *versions) {
      const bool is_whole = known.missing.empty() && !is_replaced(known);
      if (is_whole || first_holder(known) != run_.node()) continue;
      lacks.push_back(look_for_lack(known));
    }
    std::vector<uint8_t> own(lacks.size() * sizeof(Lack));
    if (!own.empty()) std::memcpy(own.data(), lacks.data(), own.size());
    Blobs blobs = {own};
    if (run_.exchange() != nullptr) {
      CAIRN_TRY_ASSIGN(all, gather_blobs_to_all(run_.exchange(), own));
      blobs = std::move(all);
    }
    for (const auto& blob : blobs) {
      for (size_t i = 0; i + sizeof(Lack) <= blob.size(); i += sizeof(Lack)) {
        const Lack lack = record_at<Lack>(blob.data() + i);
        for (KnownVersion& known : *versions) {
          if (known.version.sequence != lack.sequence) continue;
          (lack.is_replaced != 0 ? known.replaced : known.missing) =
              std::string(lack.text, strnlen(lack.text, sizeof lack.text));
          known.lacks_node = lack.lacks_node != 0;
        }
      }
    }
    return Status();
  }

  static uint32_t first_holder(const KnownVersion& known) {
    for (const auto* nodes : {&known.holders, &known.partners}) {
      const auto found =
          std::find_if(nodes->begin(), nodes->end(), [](uint32_t node) { return node != no_node; });
      if (found != nodes->end()) return *found;
    }
    return no_node;
  }

  [[nodiscard]] Lack look_for_lack(const KnownVersion& known) {
    Lack lack{known.version.sequence, 0, known.missing.empty() ? 1U : 0U, ""};
    const uint32_t part = known.missing.empty() ? first_replaced(known) : first_missing(known);
    std::string text = known.missing;
    if (part < known.holders.size()) {
      text = "its part " + std::to_string(part) + " is missing";
      const auto slot = slot_cache_.get(known.any_slot());
      const auto manifest = slot.ok() ? (*slot)->read_manifest() : Result<Manifest>(slot.status());
      if (manifest.ok()) {
        const PartRecord record = manifest->part(part);
        const uint32_t node = node_of(record);
        lack.lacks_node = node == no_node ? 1 : 0;
        text = node == no_node ? "its part on host " + std::string(record.host) +
                                     " is missing: no process of this run has that host's pool"
                               : at(node) + "its part is missing or damaged" + damage_of(node);
      }
      if (lack.is_replaced != 0 && known.has_copy(part))
        text = "a copy on " + name_of(known.partners[part]) + " was read: " + text;
    }
    std::strncpy(lack.text, text.c_str(), sizeof lack.text - 1);
    return lack;
  }

  [[nodiscard]] std::string damage_of(uint32_t node) const {
    return nodes_[node].damaged.empty() ? "" : ": " + nodes_[node].damaged.back().text;
  }
  [[nodiscard]] std::string name_of(uint32_t node) const {
    return run_.exchange() == nullptr ? "this host" : run_.exchange()->name_of(node);
  }

  // Returns the node of this run that has the part's pool.
  [[nodiscard]] uint32_t node_of(const PartRecord& part) const {
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      const Uuid pool =
          run_.exchange() == nullptr ? pool_uuid(run_.set().fs()) : run_.exchange()->pool_of(node);
      if (std::memcmp(part.pool, pool.data(), pool.size()) == 0) return node;
    }
    return no_node;
  }

  Run& run_;
  SlotCache& slot_cache_;
  Catalogue& catalogue_;
  std::vector<NodeInventory> nodes_;
  std::vector<uint64_t> adopted_;  // sequences of this node's parts
};

}  // namespace

std::vector<KnownVersion> join_versions(const std::vector<NodeInventory>& nodes, uint32_t own) {
  std::map<uint64_t, Found> found;
  for (uint32_t node = 0; node < nodes.size(); ++node)
    for (const InventoryPart& part : nodes[node].parts)
      if (part.is_committed && !part.is_copy)
        note_part(&found[part.version.sequence], node, own, part);
  for (uint32_t node = 0; node < nodes.size(); ++node)
    for (const InventoryPart& part : nodes[node].parts)
      if (part.is_committed && part.is_copy)
        note_copy(&found[part.version.sequence], node, own, part);
  std::vector<KnownVersion> versions;
  for (auto& [sequence, one] : found) {
    if (one.known.missing.empty() && first_missing(one.known) != one.known.holders.size())
      one.known.missing = "a part is missing";
    versions.push_back(std::move(one.known));
  }
  return versions;
}

std::optional<uint32_t> find_committed(const std::vector<NodeInventory>& nodes, uint32_t node,
                                       const InventoryPart& prepared) {
  for (uint32_t other = 0; other < nodes.size(); ++other) {
    if (other == node) continue;
    const InventoryPart* const part = nodes[other].find_committed(prepared.version.sequence);
    if (part != nullptr && is_same_version(part->version, prepared.version)) return other;
  }
  return std::nullopt;
}

Status merge_inventories(Run* run, SlotCache* slot_cache, Catalogue* catalogue) {
  return MergedInventory(run, slot_cache, catalogue).join();
}

}  // namespace cairn::checkpoint
