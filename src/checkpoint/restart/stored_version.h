// StoredVersion: a committed version whose bytes are read. Its slot is not used again meanwhile.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "checkpoint/version/shelf.h"

namespace cairn::checkpoint {

class StoredVersion {
 public:
  // EUCLEAN: it is damaged, or its layout is. ESTALE: the slot holds another version by now.
  // `sequence`: the version that is wanted.
  static Result<StoredVersion> open(file::FileSystem& fs, uint64_t directory, Slot* slot,
                                    uint64_t sequence);

  [[nodiscard]] const VersionRecord& version() const { return manifest_.version(); }
  [[nodiscard]] std::string_view attributes() const { return manifest_.attributes(); }
  [[nodiscard]] const Contents& contents() const { return contents_; }
  [[nodiscard]] uint64_t bytes() const;  // of all ranks
  Slot& slot() { return *slot_; }
  file::File& data() { return slot_->data_file(); }

  // Where rank's piece of a variable lies in its region; nothing: it has none. EOVERFLOW.
  Result<std::optional<Piece>> piece_of(uint32_t rank, uint32_t variable);
  // Of a region, in the data file.
  [[nodiscard]] RootRecord root(uint32_t rank) const { return manifest_.root(rank); }

  // Is it still committed? ESTALE.
  Status check();

 private:
  Slot* slot_ = nullptr;
  Lease lease_;
  uint64_t decision_ = 0;
  Manifest manifest_;
  Contents contents_;
  std::map<uint32_t, Packed> packed_;  // by rank
};

// The parts of `wanted` of a stored variable in the order in which they are to be stored: where
// they overlap, the later one counts.
void for_each_stored_part(const Decomposition& decomposition, const Box& wanted,
                          const std::function<void(uint32_t rank, const Box& part)>& visit);

}  // namespace cairn::checkpoint
