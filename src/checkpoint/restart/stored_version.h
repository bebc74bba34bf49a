// StoredVersion: a committed version whose bytes are read, wherever its parts lie. The slot that
// this node has of it is not used again meanwhile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "checkpoint/restart/part_reader.h"
#include "checkpoint/version/shelf.h"

namespace cairn::checkpoint {

// From where versions are read.
struct Stores {
  const SetFile* set = nullptr;
  Shelf* shelf = nullptr;
  Exchange* exchange = nullptr;  // null: one node
};

class StoredVersion {
 public:
  // EUCLEAN: it is damaged, or its layout is. ESTALE: the slot holds another version by now.
  static Result<StoredVersion> open(const Stores& stores, const KnownVersion& known);

  [[nodiscard]] const VersionRecord& version() const { return manifest_.version(); }
  [[nodiscard]] std::string_view attributes() const { return manifest_.attributes(); }
  [[nodiscard]] const Contents& contents() const { return contents_; }
  [[nodiscard]] uint64_t bytes() const;  // of all ranks
  // This node's; null: it has no part of the version.
  [[nodiscard]] Slot* slot() const { return slot_; }

  // Where rank's piece of a variable lies in its region; nothing: it has none. EOVERFLOW.
  Result<std::optional<Piece>> piece_of(uint32_t rank, uint32_t variable);
  // EUCLEAN: the roots of the rank's part are damaged. EIO and others of the node that has them.
  Result<Area> region_of(uint32_t rank);
  Result<Area> extent_of(uint32_t rank);
  Result<PartReader*> reader_of(uint32_t rank);

  // Is it still committed? ESTALE.
  Status check();

 private:
  struct Part {
    PartRecord record{};
    uint32_t node = 0;
    bool has_roots = false;
    std::vector<RootRecord> roots;
    std::unique_ptr<PartReader> reader;
  };
  struct Place {
    Part* part = nullptr;
    uint32_t root = 0;
  };

  Status open_here(const Stores& stores, const KnownVersion& known);
  Status open_there(const Stores& stores, const KnownVersion& known);
  Status find_contents(const Stores& stores, const KnownVersion& known);
  Status find_parts(const Stores& stores, const KnownVersion& known);
  Status load_roots(Part* part);
  Result<Place> place_of(uint32_t rank);
  Result<RootRecord> root_of(uint32_t rank);

  Slot* slot_ = nullptr;
  Lease lease_;
  uint64_t decision_ = 0;
  Exchange* exchange_ = nullptr;
  Manifest manifest_;
  Contents contents_;
  std::vector<Part> parts_;
  size_t last_part_ = 0;                // in which a rank was found
  std::map<uint32_t, Packed> packed_;   // by rank
  std::unique_ptr<BlockCache> blocks_;  // of other nodes
};

// The parts of `wanted` of a stored variable in the order in which they are to be stored: where
// they overlap, the later one counts.
void for_each_stored_part(const Decomposition& decomposition, const Box& wanted,
                          const std::function<void(uint32_t rank, const Box& part)>& visit);

}  // namespace cairn::checkpoint
