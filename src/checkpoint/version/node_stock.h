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
  uint32_t attempts = 0;      // restarts from it that were not confirmed
  uint32_t roots_crc = 0;     // of a version of several parts
  uint32_t parts_crc = 0;     // of the table of all parts, once it is committed
};

struct NodeStock {
  uint64_t last_sequence = 0;  // of any manifest
  std::vector<StockedPart> parts;
  std::vector<std::string> damaged;
  std::string newer;  // what a newer Cairn wrote

  [[nodiscard]] const StockedPart* find(uint64_t sequence) const;
};

std::vector<uint8_t> encode_stock(const NodeStock& stock);
// EPROTO: it is cut off. EUCLEAN: it tells of a version that cannot be.
Result<NodeStock> decode_stock(const std::vector<uint8_t>& bytes);

// Nothing was decided of the version that is in the slot, and all of it is there: as a node leaves
// it that was killed between two leaders' messages. Nothing: another slot than that.
Result<bool> find_prepared(Slot* slot, StockedPart* part);

}  // namespace cairn::checkpoint
