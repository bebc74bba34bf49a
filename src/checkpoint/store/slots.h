// Slots: what lies in the directory of a set, and which of its slots are free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/store/slot.h"

namespace cairn::checkpoint {

struct ListedSlot {
  uint32_t number = 0;
  bool has_manifest = false;
  bool has_data = false;
};

struct SetListing {
  std::vector<ListedSlot> slots;            // by number
  std::vector<std::string> layouts;         // names of files
  std::vector<std::string> decompositions;  // names of files
  std::vector<std::string> foreign;         // what the format does not know; left alone
  std::string hidden;  // why there may be more that no name leads to; empty: there is none
};
// A name that is damaged counts as what it was.
Result<SetListing> list_set(file::FileSystem& fs, uint64_t directory);

enum class SlotState : uint8_t {
  free,       // may be used for another version
  committed,  // `manifest` is its version
  damaged,    // says committed, or nothing sensible; `status` knows why
  newer,      // of a Cairn that this one does not understand
};
struct SlotContent {
  SlotState state = SlotState::free;
  Manifest manifest;
  Status status;
};
// Failures are those of the medium.
Result<SlotContent> look_at(Slot& slot);

// The first slot that is free and that nobody reads; null: there is none. The caller holds the
// set's lock, so that no other process takes it.
Result<std::unique_ptr<Slot>> find_free_slot(file::FileSystem& fs, uint64_t directory,
                                             const SetListing& listing);
// The lowest number that no file has; nothing: there are 4096.
std::optional<uint32_t> unused_number(const SetListing& listing);

}  // namespace cairn::checkpoint
