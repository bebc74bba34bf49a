// Catalogue: the committed versions of a set, as one process knows them. It is read from the medium
// when a run begins; from then on each process adds what it sees committed.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/store/set_file.h"
#include "checkpoint/version/lineage.h"
#include "checkpoint/version/shelf.h"

namespace cairn::checkpoint {

inline constexpr const char* agree_name = "agree";

Sha256Hash layout_of(const VersionRecord& version);

struct KnownVersion {
  uint32_t slot = 0;
  VersionRecord version{};
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
  Status note(const SetFile& set, uint32_t slot, const Manifest& manifest);
  void note_damage(uint32_t slot, const std::string& text);

  std::vector<KnownVersion> versions_;
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
