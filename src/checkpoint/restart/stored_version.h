// StoredVersion: reads the bytes of a committed version, wherever its parts or their copies lie.
// The slots that this node has of it are not reused meanwhile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "checkpoint/sources/lower_source.h"
#include "checkpoint/sources/part_reader.h"
#include "checkpoint/versions/slot_cache.h"

namespace cairn::checkpoint {

// The places that versions are read from.
struct Stores {
  const SetFile* set = nullptr;
  SlotCache* slot_cache = nullptr;
  Exchange* exchange = nullptr;     // null: one node
  const LowerSet* lower = nullptr;  // null: lower has nothing of the set
};

class StoredVersion {
 public:
  // Opens a version. Damaged parts in a pool are read from their copy in another node's pool, and
  // then from lower; damage may also show later. EUCLEAN: the version or its layout is damaged.
  // ESTALE: the slot holds another version by now.
  static Result<StoredVersion> open(const Stores& stores, const KnownVersion& known);

  [[nodiscard]] const VersionRecord& version() const { return manifest_.version(); }
  [[nodiscard]] std::string_view attributes() const { return manifest_.attributes(); }
  [[nodiscard]] const Contents& contents() const { return contents_; }
  [[nodiscard]] uint64_t bytes() const;  // of all ranks
  // Returns the slot whose manifest was read; null: this node has no part of the version.
  [[nodiscard]] Slot* slot() const { return slots_.empty() ? nullptr : slots_.front().slot; }
  // Returns the number of parts of which this rank reads bytes from a copy, as far as known.
  [[nodiscard]] uint32_t parts_from_copies() const;
  // Returns the fault of one of these parts that are there themselves, or "".
  [[nodiscard]] std::string why_copies() const;

  // i < version().parts.
  [[nodiscard]] const PartRecord& part(uint32_t i) const { return parts_[i].record; }
  // Tells which of its parts are available: the part itself, a copy, or neither.
  enum class Presence { none, own, copy };
  [[nodiscard]] Presence presence_of(uint32_t part) const;
  // Returns the ranks of a part, ascending unless the part is irregular. EHOSTDOWN: it is
  // irregular and not available.
  Result<std::vector<uint32_t>> ranks_of(uint32_t part);

  // Returns the place of the rank's piece of a variable in its region; no value: it has none.
  // EOVERFLOW.
  Result<std::optional<Piece>> piece_of(uint32_t rank, uint32_t variable);
  // Returns the rank's region. EUCLEAN: the roots of the rank's part are damaged. EIO and other
  // errors of the node that has them.
  Result<Area> region_of(uint32_t rank);
  Result<Area> extent_of(uint32_t rank);
  Result<PartReader*> reader_of(uint32_t rank);

  // Returns ESTALE if the version is no longer committed.
  Status check();

 private:
  // The place of a part, or of its copy.
  struct Source {
    uint32_t node = 0;
    Slot* slot = nullptr;  // on this node; null: another node's leader is asked
    bool is_copy = false;
    bool is_in_lower = false;
    uint64_t told_bytes = max_data_file;  // size of its data file, once the leader has told it

    [[nodiscard]] uint64_t data_bytes() const {
      return slot == nullptr ? told_bytes : slot->data_file().inode->size.load();
    }
  };
  struct Part {
    PartRecord record{};
    std::vector<Source> sources;
    bool has_roots = false;
    std::vector<RootRecord> roots;
    std::unique_ptr<PartReader> reader;
    // The reason why a copy replaces the part.
    std::unique_ptr<std::string> why = std::make_unique<std::string>();
  };
  struct Held {
    Slot* slot = nullptr;
    Lease lease;
    uint64_t decision = 0;
  };
  struct Place {
    Part* part = nullptr;
    uint32_t root = 0;
  };

  Status open_here(const KnownVersion& known, Slot* slot);
  Status open_there(const KnownVersion& known);
  Status open_in_lower(const KnownVersion& known);
  Result<Slot*> hold(SlotCache* slot_cache, uint32_t number);
  Result<std::vector<Source>> sources_of(const Stores& stores, const KnownVersion& known,
                                         uint32_t part);
  Status find_contents(const Stores& stores, const KnownVersion& known);
  Result<Contents> contents_there(const KnownVersion& known, const Sha256Hash& hash);
  void read_sources(Part* part, uint32_t number);
  Status find_parts(const Stores& stores, const KnownVersion& known);
  [[nodiscard]] std::string name_of(const Source& source) const;
  Status check_own_places(Part* part, const std::vector<RootRecord>& roots);
  std::unique_ptr<PartReader> reader_from(const Source& source, uint32_t part);
  Status load_roots(Part* part);
  Status load_roots_from(const Source& source, Part* part);
  Result<Place> place_of(uint32_t rank);
  Result<RootRecord> root_of(uint32_t rank);

  std::vector<Held> slots_;
  Exchange* exchange_ = nullptr;
  uint32_t first_node_ = 0;        // the node that was asked for the manifest, if no slot is held
  uint64_t first_data_bytes_ = 0;  // of that node's data file
  Manifest manifest_;
  Contents contents_;
  std::vector<Part> parts_;
  size_t last_part_ = 0;                // the part in which a rank was found last
  std::map<uint32_t, Packed> packed_;   // by rank
  std::unique_ptr<BlockCache> blocks_;  // of other nodes
  std::unique_ptr<LowerSource> lower_;  // null: there is none
};

}  // namespace cairn::checkpoint
