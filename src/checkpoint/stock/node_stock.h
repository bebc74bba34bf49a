// NodeStock: what the pool of a node has of the versions of a set, as nodes tell each other when a
// run begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/store/records.h"
#include "checkpoint/store/slot.h"

namespace cairn::checkpoint {

// A part in a slot.
struct StockedPart {
  VersionRecord version{};
  uint32_t slot = 0;
  bool is_committed = false;  // else it is prepared: complete, and never decided
  bool is_copy = false;       // of another node's part
  uint32_t attempts = 0;      // restarts from it that were not confirmed
  uint32_t roots_crc = 0;     // of a version of several parts
  uint32_t parts_crc = 0;     // of the table of all parts, once it is committed
};

// A slot that says that it is committed, and is not right.
struct DamagedSlot {
  std::string text;
  uint64_t sequence = 0;  // that its decision names, if anything does; 0: none
};

struct NodeStock {
  uint64_t last_sequence = 0;  // of any manifest
  std::vector<StockedPart> parts;
  std::vector<DamagedSlot> damaged;
  std::string newer;  // what a newer Cairn wrote

  // A committed part of the version, or a copy of one. Null: there is none.
  [[nodiscard]] const StockedPart* find_committed(uint64_t sequence) const;
};

std::vector<uint8_t> encode_stock(const NodeStock& stock);
// EPROTO: it is cut off, or says what cannot be. EUCLEAN: a VERSION in it is damaged.
Result<NodeStock> decode_stock(const std::vector<uint8_t>& bytes);

// Nothing was decided of the version that is in the slot, and all of it is there: as a node leaves
// it that was killed between two leaders' messages. Nothing: another slot than that.
Result<bool> find_prepared(Slot* slot, StockedPart* part);

}  // namespace cairn::checkpoint
