#include "checkpoint/versions/node_inventory.h"

#include <algorithm>

#include "base/bounded_reader.h"
#include "base/crc32c_bulk.h"
#include "checkpoint/store/new_file.h"

namespace cairn::checkpoint {
namespace {

// The head of an inventory. It has no version: processes of one run have the same Cairn.
struct InventoryHead {
  uint64_t last_sequence;
  uint32_t parts;
  uint32_t damaged;
};
struct InventoryEntry {
  VersionRecord version;
  uint32_t slot;
  uint32_t is_committed;
  uint32_t attempts;
  uint32_t roots_crc;
  uint32_t parts_crc;
  uint32_t is_copy;
};

constexpr size_t longest_text = 256;
constexpr size_t most_damaged = 16;

template <typename T>
void append(std::vector<uint8_t>* bytes, const T& value) {
  static_assert(std::has_unique_object_representations_v<T>);
  const auto* begin = reinterpret_cast<const uint8_t*>(&value);
  bytes->insert(bytes->end(), begin, begin + sizeof value);
}

void append_text(std::vector<uint8_t>* bytes, const std::string& text) {
  const auto length = static_cast<uint32_t>(std::min(text.size(), longest_text));
  append(bytes, length);
  bytes->insert(bytes->end(), text.begin(), text.begin() + length);
}

std::string take_text(BoundedReader* reader) {
  return std::string(reader->text(reader->take<uint32_t>()));
}

}  // namespace

const InventoryPart* NodeInventory::find_committed(uint64_t sequence) const {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const InventoryPart& part) {
    return part.version.sequence == sequence && part.is_committed;
  });
  return found == parts.end() ? nullptr : &*found;
}

std::vector<uint8_t> encode_inventory(const NodeInventory& inventory) {
  std::vector<uint8_t> bytes;
  const size_t damaged = std::min(inventory.damaged.size(), most_damaged);
  append(&bytes,
         InventoryHead{inventory.last_sequence, static_cast<uint32_t>(inventory.parts.size()),
                       static_cast<uint32_t>(damaged)});
  for (const InventoryPart& part : inventory.parts)
    append(&bytes,
           InventoryEntry{part.version, part.slot, part.is_committed ? 1U : 0U, part.attempts,
                          part.roots_crc, part.parts_crc, part.is_copy ? 1U : 0U});
  for (size_t i = 0; i < damaged; ++i) {
    append(&bytes, inventory.damaged[i].sequence);
    append_text(&bytes, inventory.damaged[i].text);
  }
  append_text(&bytes, inventory.newer);
  return bytes;
}

Result<NodeInventory> decode_inventory(const std::vector<uint8_t>& bytes) {
  BoundedReader reader(bytes.data(), bytes.size());
  NodeInventory inventory;
  const auto head = reader.take<InventoryHead>();
  inventory.last_sequence = head.last_sequence;
  for (uint32_t i = 0; i < head.parts && reader.ok(); ++i) {
    const auto entry = reader.take<InventoryEntry>();
    if (!reader.ok()) break;
    const auto* const version = reinterpret_cast<const uint8_t*>(&entry.version);
    CAIRN_TRY(read_version(version, sizeof entry.version).status());
    if (entry.slot == 0 || entry.slot > max_slots)
      return fail(EPROTO, "version list of a node: invalid slot %u: expected 1 to %u", entry.slot,
                  max_slots);
    inventory.parts.push_back({entry.version, entry.slot, entry.is_committed != 0,
                               entry.is_copy != 0, entry.attempts, entry.roots_crc,
                               entry.parts_crc});
  }
  for (uint32_t i = 0; i < head.damaged && reader.ok(); ++i) {
    const auto sequence = reader.take<uint64_t>();
    inventory.damaged.push_back({take_text(&reader), sequence});
  }
  inventory.newer = take_text(&reader);
  if (!reader.ok()) return fail(EPROTO, "version list of a node: cut off: %zu bytes", bytes.size());
  return inventory;
}

Result<bool> find_prepared(Slot* slot, InventoryPart* part) {
  const auto decision = slot->decision();
  if (!decision.ok() || !is_free_word(*decision)) return false;
  const auto version = slot->read_version();
  if (!version.ok() || version->parts == 1) return false;
  constexpr uint64_t low_sequence = 0xffffff;
  const bool is_of_this = decision_state(*decision) != 0 &&
                          (*decision >> 8 & low_sequence) == (version->sequence & low_sequence);
  if (is_of_this) return false;
  const uint64_t end = version->attributes_offset;
  CAIRN_TRY_ASSIGN(bytes, read_begin(slot->manifest_file(), end));
  if (bytes.size() != end) return false;
  for (uint32_t i = 0; i < version->part_ranks; ++i) {
    const auto root = record_at<RootRecord>(bytes.data() + roots_offset + sizeof(RootRecord) * i);
    if (!is_sound(root) || root.sequence != version->sequence) return false;
  }
  part->version = *version;
  part->slot = slot->ids().number;
  part->is_committed = false;
  part->roots_crc =
      crc32c_bulk(0, bytes.data() + roots_offset, sizeof(RootRecord) * size_t{version->part_ranks});
  return true;
}

}  // namespace cairn::checkpoint
