// LowerCopies: the copies of a run's versions in lower, for level GLOBAL.
#pragma once

#include "checkpoint/session/background_copies.h"
#include "checkpoint/versions/set_view.h"
#include "checkpoint/write/writer.h"

namespace cairn::checkpoint {

class LowerCopies {
 public:
  // `last_of_pools`: the greatest sequence of versions before the run that are its own: those of
  // the pools, or all if it begins anew. The objects stay where they are.
  LowerCopies(Run* run, SetView* view, Writer* writer, const LowerOptions& options,
              uint64_t last_of_pools);

  [[nodiscard]] bool has_directory() const { return !options_.directory.empty(); }
  [[nodiscard]] BackgroundCopies& background() { return background_; }
  // Returns the sequences that the run has used.
  [[nodiscard]] UsedSequences used() const;

  // Copies a version. Rank 0 does it, or on several nodes the leader of each. Collective.
  Status copy(uint64_t sequence);
  // Copies the newest version when the run ends. Collective. `is_fine`: this rank has no other
  // error. On one node all ranks get the error of the rank that copies.
  Status copy_newest(bool is_fine);

 private:
  Status drain(uint64_t sequence);
  // Copies the newest version on one node.
  Status drain_newest();

  Run& run_;
  SetView& view_;
  Writer& writer_;
  const LowerOptions options_;
  const uint64_t last_of_pools_;
  BackgroundCopies background_;
};

}  // namespace cairn::checkpoint
