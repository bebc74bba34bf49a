// Slots: lists the directory of a set, and finds its free slots.
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
  std::vector<std::string> foreign;         // unknown to the format; left alone
  std::string hidden;  // why there may be files that no name leads to; empty: there are none
};
// Lists a set. A damaged name counts as the name that it was.
Result<SetListing> list_set(file::FileSystem& fs, uint64_t directory);

enum class SlotState : uint8_t {
  free,       // may be used for another version
  committed,  // `manifest` is its version
  damaged,    // says committed, or nothing valid; `status` has the reason
  newer,      // written by a newer Cairn
};
struct SlotContent {
  SlotState state = SlotState::free;
  Manifest manifest;
  Status status;
};
// Reads the content of a slot. Failures are those of the medium.
Result<SlotContent> look_at(Slot& slot);

// Returns the first slot that is free and that no process reads; null: there is none. The caller
// holds the set's lock, so that no other process takes the slot.
Result<std::unique_ptr<Slot>> find_free_slot(file::FileSystem& fs, uint64_t directory,
                                             const SetListing& listing);
// Returns the lowest number that no file has; no value if there are 4096.
std::optional<uint32_t> unused_number(const SetListing& listing);

}  // namespace cairn::checkpoint
