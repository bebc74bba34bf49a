// Catalogue: the committed versions of a set, as one process knows them. It is read from the medium
// when a run begins; afterwards each process adds the versions that it sees committed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checkpoint/store/set_file.h"
#include "checkpoint/versions/lineage.h"
#include "checkpoint/versions/node_inventory.h"
#include "checkpoint/versions/slot_cache.h"

namespace cairn::checkpoint {

inline constexpr const char* agree_name = "agree";

// Stands for no node of this run.
inline constexpr uint32_t no_node = UINT32_MAX;

// A copy of another node's part, in a slot of this pool.
struct HeldCopy {
  uint32_t part = 0;
  uint32_t slot = 0;
};

struct KnownVersion {
  uint32_t slot = 0;  // of this node's part; 0: it has none
  VersionRecord version{};
  std::vector<HeldCopy> copies;
  // Both are indexed by part, for a version of several parts: the node that has it, and the node
  // that has its copy.
  std::vector<uint32_t> holders;
  std::vector<uint32_t> partners;  // empty: no node has a copy
  std::string missing;             // why it is not available; empty: all parts are there
  std::string replaced;            // a part that is there only as a copy; empty: none
  // Either text is set because the run lacks a node that has a part.
  bool lacks_node = false;
  bool is_in_lower = false;  // it is read from lower, and this pool has nothing of it
  uint32_t attempts = 0;     // for several nodes: the greatest when the run began

  // Returns the slot of this pool that holds a part or its copy; 0: none does.
  [[nodiscard]] uint32_t slot_of(uint32_t part) const;
  // Returns all slots of this pool that hold a part of it, that of its own part first.
  [[nodiscard]] std::vector<uint32_t> slots() const;
  // Returns the first of slots(); 0: there is none.
  [[nodiscard]] uint32_t any_slot() const;
  [[nodiscard]] bool has(uint32_t part) const;       // a node of the run has it
  [[nodiscard]] bool has_copy(uint32_t part) const;  // a node of the run has a copy
  // Returns true if all parts are there twice.
  [[nodiscard]] bool has_partners() const;
  // Returns true if all parts are there, one of them only as a copy: a node was lost.
  [[nodiscard]] bool rests_on_copies() const { return missing.empty() && !replaced.empty(); }
};

class Catalogue {
 public:
  // Reads all manifests.
  static Result<Catalogue> read_manifests(const SetFile& set, SlotCache* slot_cache);

  // Returns the versions by ascending sequence.
  [[nodiscard]] const std::vector<KnownVersion>& versions() const { return versions_; }
  // Returns the slots that are damaged although they say committed.
  [[nodiscard]] const std::vector<DamagedSlot>& damaged() const { return damaged_; }
  // Returns the damage of this version, or "" if no damaged slot names it.
  [[nodiscard]] std::string why_lost(uint64_t sequence) const;
  // Removes and returns the numbers of the damaged slots, which no process uses again.
  std::vector<uint32_t> take_damaged();
  // Returns a text about slots that a newer Cairn wrote; empty: there are none.
  [[nodiscard]] const std::string& newer() const { return newer_; }
  // Returns the greatest sequence of any manifest, committed or not.
  [[nodiscard]] uint64_t last_sequence() const { return last_; }
  // Returns what this pool has, in the form that nodes send each other.
  [[nodiscard]] const NodeInventory& inventory() const { return inventory_; }
  // Replaces this pool's versions by those of all nodes of the run.
  void put_all(std::vector<KnownVersion> versions, std::vector<DamagedSlot> damaged,
               const std::string& newer, uint64_t last);

  // Returns null if there is no version.
  [[nodiscard]] const KnownVersion* head() const {
    return versions_.empty() ? nullptr : &versions_.back();
  }
  [[nodiscard]] const KnownVersion* find(uint64_t sequence) const;
  // Returns the versions in the head's line, newest first.
  [[nodiscard]] std::vector<KnownVersion> line() const;

  void add(const KnownVersion& known);
  // Records another copy in this pool.
  void add_copy(uint64_t sequence, const HeldCopy& copy);
  // Records that all parts have copies on these nodes.
  void note_partners(uint64_t sequence, const std::vector<uint32_t>& partners);
  // Removes and returns the versions that do not stay by these rules. The newest version of the
  // line whose parts are there twice stays.
  std::vector<KnownVersion> take_beyond(const Retention& retention);
  // Returns true for a version that stays whatever the rules: the newest one, or the newest of the
  // line whose parts are there twice.
  [[nodiscard]] bool must_stay(uint64_t sequence) const;
  // Removes and returns one version; no value if it is not there.
  std::optional<KnownVersion> take(uint64_t sequence);

 private:
  Status look_at_slot(const SetFile& set, SlotCache* slot_cache, const ListedSlot& listed);
  Status note(const SetFile& set, Slot* slot, const Manifest& manifest);
  // Returns true if the name of the slot's manifest leads to the manifest of another slot.
  bool has_false_name(const SetFile& set, SlotCache* slot_cache, const Slot& slot,
                      uint64_t sequence);
  void note_damage(uint32_t slot, const std::string& text, uint64_t sequence = 0);
  void note_damaged_half(const SetFile& set, uint32_t slot, const std::string& text);
  void date_unknown(uint64_t newest);
  KnownVersion* find_known(uint64_t sequence);
  [[nodiscard]] uint64_t newest_with_copies() const;

  std::vector<KnownVersion> versions_;
  NodeInventory inventory_;
  std::vector<DamagedSlot> damaged_;
  std::vector<uint32_t> damaged_slots_;
  std::string newer_;
  uint64_t last_ = 0;
};

// Prepares a set for a run: removes half-made slots that were never decided, and makes durable that
// free slots are free, which a killed process may not have done. Called under the set's lock.
// Returns the greatest sequence of any manifest.
Result<uint64_t> prepare_set(const SetFile& set, SlotCache* slot_cache);
// Removes slots that hold no version and that no process reads, layouts that no version names, and
// the file `agree`. Called under the set's lock, when no run is left.
Status remove_unused(const SetFile& set, SlotCache* slot_cache);

}  // namespace cairn::checkpoint
