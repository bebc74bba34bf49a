// VersionWords: the words in the file `set` by which the ranks of a node write a version together:
// its slot, the ranks that have arrived, the rank that failed, and the decision.
//
// One version is open at a time. The words of arrivals exist twice, for even and odd sequences:
// ranks still read the decision of a version while others begin the next one.
#pragma once

#include <cstdint>
#include <optional>

#include "checkpoint/run/run.h"
#include "checkpoint/store/slot.h"

namespace cairn::checkpoint {

// The failure that keeps a version from being committed.
struct RankFailure {
  int error = 0;      // errno; 0: no rank has failed
  uint32_t rank = 0;  // in the job
};

struct Arrivals {
  bool are_over = false;         // all ranks have arrived, or one died before
  std::optional<uint32_t> dead;  // a rank of this node that died
};

// The first rank's message to the others about the version that it opens.
struct Opening {
  SlotIds slot;              // number 0: it has none
  bool is_new = false;       // the slot was made for this version
  uint64_t regions_end = 0;  // in the data file
  int64_t number = 0;        // the program's
};

class VersionWords {
 public:
  explicit VersionWords(const Run& run) : run_(run), words_(run.words()) {}

  // Clears the words under the lock; the first rank calls it before any rank arrives at the
  // version.
  void clear(uint64_t sequence) const;
  // Opens the version for the other ranks, after clear().
  void open(uint64_t sequence, const Opening& opening) const;
  [[nodiscard]] bool is_open(uint64_t sequence) const;
  // Returns number 0 if the version is not open, or has no slot.
  [[nodiscard]] SlotIds slot(uint64_t sequence) const;
  // These describe the open version.
  [[nodiscard]] bool has_new_slot() const;
  [[nodiscard]] int64_t number() const;
  // Reserves bytes of the data file behind the regions and other ranks' reservations. Returns the
  // offset.
  [[nodiscard]] uint64_t take_extent(uint64_t bytes) const;

  // Records that this rank is done. Returns true to the last rank of its node.
  [[nodiscard]] bool arrive(uint64_t sequence) const;
  [[nodiscard]] Arrivals arrivals(uint64_t sequence) const;
  // Returns true if no more ranks will arrive. The death of a rank is recorded as the failure of
  // the version, if no rank has failed before.
  [[nodiscard]] bool close(uint64_t sequence) const;

  [[nodiscard]] RankFailure failure(uint64_t sequence) const;
  void set_failure(uint64_t sequence, const RankFailure& failure) const;
  // Records this rank's failure, unless another rank failed before. Its text, last_detail(), goes
  // to the others.
  void note_failure(uint64_t sequence, const Status& status) const;

  // Returns the bytes that ranks have stored of counted variables; with several nodes, once the
  // version is decided, all bytes that they have stored.
  [[nodiscard]] uint64_t bytes(uint64_t sequence) const;
  void add_bytes(uint64_t sequence, uint64_t bytes) const;
  // Returns when the version began on the first of several nodes.
  [[nodiscard]] uint64_t begun(uint64_t sequence) const;
  void set_totals(uint64_t sequence, uint64_t bytes, uint64_t begun) const;

  void decide(uint64_t sequence, bool is_committed) const;
  [[nodiscard]] bool is_decided(uint64_t sequence) const;
  // Returns true if this version or a later one is decided.
  [[nodiscard]] bool is_over(uint64_t sequence) const;
  // Returns true if the version, which is decided, is committed.
  [[nodiscard]] bool is_committed(uint64_t sequence) const;

 private:
  [[nodiscard]] pool::Pool& pool() const { return run_.set().fs().pool; }

  const Run& run_;
  const RunWords& words_;
};

}  // namespace cairn::checkpoint
