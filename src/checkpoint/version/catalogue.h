// Catalogue: the committed versions of a set, as one process knows them. It is read from the medium
// when a run begins; from then on each process adds what it sees committed.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/store/set_file.h"
#include "checkpoint/version/lineage.h"
#include "checkpoint/version/node_stock.h"
#include "checkpoint/version/shelf.h"

namespace cairn::checkpoint {

inline constexpr const char* agree_name = "agree";

Sha256Hash layout_of(const VersionRecord& version);

struct KnownVersion {
  uint32_t slot = 0;  // of this node's part; 0: it has none
  VersionRecord version{};
  // Of a version of several parts: the node of each.
  std::vector<uint32_t> holders;
  std::string missing;      // why it cannot be had; empty: all parts are there
  bool lacks_node = false;  // because the run lacks a node that has a part
  uint32_t attempts = 0;    // of several nodes: the greatest when the run began
};

class Catalogue {
 public:
  // Reads all manifests.
  static Result<Catalogue> take_stock(const SetFile& set, Shelf* shelf);

  // By ascending sequence.
  [[nodiscard]] const std::vector<KnownVersion>& versions() const { return versions_; }
  // What says that it is committed and is damaged, a line each.
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }
  // The slots of these, which nobody uses again; forgotten with them.
  std::vector<uint32_t> take_damaged();
  // What a newer Cairn wrote; empty: nothing.
  [[nodiscard]] const std::string& newer() const { return newer_; }
  // The greatest sequence of any manifest, committed or not.
  [[nodiscard]] uint64_t last_sequence() const { return last_; }
  // What this pool has, as nodes tell each other.
  [[nodiscard]] const NodeStock& stock() const { return stock_; }
  // In place of this pool's versions: those of all nodes of the run.
  void put_all(std::vector<KnownVersion> versions, std::vector<std::string> damaged,
               const std::string& newer, uint64_t last);

  // Null: there is none.
  [[nodiscard]] const KnownVersion* head() const {
    return versions_.empty() ? nullptr : &versions_.back();
  }
  [[nodiscard]] const KnownVersion* find(uint64_t sequence) const;
  // The versions in the head's line, newest first.
  [[nodiscard]] std::vector<KnownVersion> line() const;

  void add(const KnownVersion& known);
  // Takes out, and returns, what does not stay by these rules.
  std::vector<KnownVersion> take_beyond(const Retention& retention);

 private:
  Status look_at_slot(const SetFile& set, Shelf* shelf, const ListedSlot& listed);
  Status note(const SetFile& set, Slot* slot, const Manifest& manifest);
  void note_damage(uint32_t slot, const std::string& text);

  std::vector<KnownVersion> versions_;
  NodeStock stock_;
  std::vector<std::string> damaged_;
  std::vector<uint32_t> damaged_slots_;
  std::string newer_;
  uint64_t last_ = 0;
};

// What is due before a run: removes halves of slots that were never decided, and makes durable that
// free slots are free, which a killed process may not have done. Under the set's lock. The greatest
// sequence of any manifest.
Result<uint64_t> settle_set(const SetFile& set, Shelf* shelf);
// Removes slots that hold no version and that nobody reads, layouts that no version names, and the
// file `agree`. Under the set's lock, when no run is left.
Status remove_unused(const SetFile& set, Shelf* shelf);

}  // namespace cairn::checkpoint
