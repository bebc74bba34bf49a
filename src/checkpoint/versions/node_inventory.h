// NodeInventory: what the pool of a node has of a set's versions, in the form that nodes send each
// other when a run begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/store/records.h"
#include "checkpoint/store/slot.h"

namespace cairn::checkpoint {

// A part in a slot.
struct InventoryPart {
  VersionRecord version{};
  uint32_t slot = 0;
  bool is_committed = false;  // else it is prepared: complete, and never decided
  bool is_copy = false;       // of another node's part
  uint32_t attempts = 0;      // restarts from it that were not confirmed
  uint32_t roots_crc = 0;     // of a version of several parts
  uint32_t parts_crc = 0;     // of the table of all parts, once it is committed
};

// A slot that says that it is committed, and is damaged.
struct DamagedSlot {
  std::string text;
  uint64_t sequence = 0;  // named by its decision; 0: none
};

struct NodeInventory {
  uint64_t last_sequence = 0;  // of any manifest
  std::vector<InventoryPart> parts;
  std::vector<DamagedSlot> damaged;
  std::string newer;  // about slots that a newer Cairn wrote

  // Returns a committed part of the version, or a copy of one; null: there is none.
  [[nodiscard]] const InventoryPart* find_committed(uint64_t sequence) const;
};

std::vector<uint8_t> encode_inventory(const NodeInventory& inventory);
// Decodes the bytes of a node. EPROTO: they are cut off or invalid. EUCLEAN: a VERSION in them is
// damaged.
Result<NodeInventory> decode_inventory(const std::vector<uint8_t>& bytes);

// Finds a part that is complete and was never decided: a node leaves it so if it is killed between
// two leaders' messages. Returns false for any other slot.
Result<bool> find_prepared(Slot* slot, InventoryPart* part);

}  // namespace cairn::checkpoint
