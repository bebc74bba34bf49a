// Retirement: decides, for one process, which committed versions of a set stay, and frees the slots
// of the others.
#pragma once

#include <vector>

#include "checkpoint/run/run.h"
#include "checkpoint/versions/catalogue.h"

namespace cairn::checkpoint {

class Retirement {
 public:
  // The objects `run`, `slot_cache` and `catalogue` stay where they are.
  Retirement(Run* run, SlotCache* slot_cache, Catalogue* catalogue, Retention retention)
      : run_(*run), slot_cache_(*slot_cache), catalogue_(*catalogue), retention_(retention) {}

  // Makes the next commit free damaged slots, too.
  void drop_damaged_with_next() { drops_damaged_ = true; }
  // Makes the next commit confirm the restart from this slot.
  void confirm_with_next(uint32_t slot) { restarted_ = slot; }

  // Adds a version that was committed. `frees`: this rank decided on it, and frees slots for its
  // node. A slot that cannot be freed now is freed after a later commit.
  void add(const KnownVersion& known, bool frees);
  // Records that all nodes hold their copies of the version. The leader of each node frees the
  // versions that had copies before.
  void note_partners(uint64_t sequence, const std::vector<uint32_t>& holders);
  // Retires a version. Called by all ranks, while no version is open; the leader of each node makes
  // it durable.
  Status drop(uint64_t sequence);
  // Stores that the restart needs no further attempt. Called by one rank, when the run ends
  // regularly.
  Status confirm_restart();

 private:
  void retire(const std::vector<KnownVersion>& beyond);
  void note_partner_level(const KnownVersion& known);
  bool drop_damaged(const std::vector<uint32_t>& slots);
  [[nodiscard]] pool::Pool& pool() const { return run_.set().fs().pool; }

  Run& run_;
  SlotCache& slot_cache_;
  Catalogue& catalogue_;
  Retention retention_;
  uint32_t restarted_ = 0;  // the slot that the run restarted from; 0: none, or it is confirmed
  bool drops_damaged_ = false;
};

}  // namespace cairn::checkpoint
