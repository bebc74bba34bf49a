// VersionWords: the words in the file `set` by which the ranks of a node write a version together:
// which slot it has, which ranks have arrived, which one failed, and what was decided.
//
// One version is open at a time. The words of arrivals are there twice, for even and odd sequences:
// ranks still read what was decided of a version while others begin the next one.
#pragma once

#include <cstdint>
#include <optional>

#include "checkpoint/run/run.h"
#include "checkpoint/store/slot.h"

namespace cairn::checkpoint {

// What keeps a version from being committed.
struct RankFailure {
  int error = 0;      // errno; 0: no rank has failed
  uint32_t rank = 0;  // in the job
};

struct Arrivals {
  bool are_over = false;         // all ranks have arrived, or one died before
  std::optional<uint32_t> dead;  // that rank, among those of this node
};

// What the first rank says to the others of the version that it opens.
struct Opening {
  SlotIds slot;              // number 0: it has none
  bool is_new = false;       // the slot was made for this version
  uint64_t regions_end = 0;  // in the data file
  int64_t number = 0;        // the program's
};

class VersionWords {
 public:
  explicit VersionWords(const Run& run) : run_(run), words_(run.words()) {}

  // Under the lock, by the first rank: nobody has arrived at the version yet.
  void clear(uint64_t sequence) const;
  // Then: the other ranks find the version open.
  void open(uint64_t sequence, const Opening& opening) const;
  [[nodiscard]] bool is_open(uint64_t sequence) const;
  // Number 0: the version is not open, or has no slot.
  [[nodiscard]] SlotIds slot(uint64_t sequence) const;
  // Of the version that is open.
  [[nodiscard]] bool has_new_slot() const;
  [[nodiscard]] int64_t number() const;
  // Reserves bytes of the data file behind the regions and what other ranks have reserved. The
  // offset.
  [[nodiscard]] uint64_t take_extent(uint64_t bytes) const;

  // This rank has done what it can. True: it is the last one of its node.
  [[nodiscard]] bool arrive(uint64_t sequence) const;
  [[nodiscard]] Arrivals arrivals(uint64_t sequence) const;
  // True: no more ranks will arrive. The death of one is noted as the failure of the version, if no
  // rank has failed before.
  [[nodiscard]] bool close(uint64_t sequence) const;

  [[nodiscard]] RankFailure failure(uint64_t sequence) const;
  void set_failure(uint64_t sequence, const RankFailure& failure) const;
  // This rank's, unless another one failed before. Its text, last_detail(), goes to the others.
  void note_failure(uint64_t sequence, const Status& status) const;

  // What ranks have stored of counted variables; of several nodes, once the version is decided, all
  // that they have stored.
  [[nodiscard]] uint64_t bytes(uint64_t sequence) const;
  void add_bytes(uint64_t sequence, uint64_t bytes) const;
  // Of several nodes: when the version began on the first of them.
  [[nodiscard]] uint64_t begun(uint64_t sequence) const;
  void set_totals(uint64_t sequence, uint64_t bytes, uint64_t begun) const;

  void decide(uint64_t sequence, bool is_committed) const;
  [[nodiscard]] bool is_decided(uint64_t sequence) const;
  // This version or a later one is decided.
  [[nodiscard]] bool is_over(uint64_t sequence) const;
  // The version is decided.
  [[nodiscard]] bool is_committed(uint64_t sequence) const;

 private:
  [[nodiscard]] pool::Pool& pool() const { return run_.set().fs().pool; }

  const Run& run_;
  const RunWords& words_;
};

}  // namespace cairn::checkpoint
