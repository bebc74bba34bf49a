// LowerLine: the versions in lower, and those of them that the newest one has abandoned.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/sources/lower_set.h"
#include "checkpoint/versions/catalogue.h"

namespace cairn::checkpoint {

struct LowerLine {
  std::vector<uint64_t> sequences;    // newest first
  std::optional<VersionRecord> head;  // the newest with a valid manifest, whatever its data are
  // The head of the line before: the run that began the head's line did not continue it.
  std::optional<VersionRecord> earlier_head;

  [[nodiscard]] bool is_abandoned(uint64_t sequence) const;
  // Returns true if the version belongs to a line before the head's.
  [[nodiscard]] bool is_left_behind(uint64_t sequence) const;
  // Returns true if the version belongs to the last line before the head's.
  [[nodiscard]] bool is_earlier(uint64_t sequence) const;
  // Is it of a line before that one? What the last line before the head's has abandoned is of
  // neither.
  [[nodiscard]] bool is_older(uint64_t sequence) const;
};

// Lists the line. EPROTONOSUPPORT: a newer Cairn wrote the head. And the errors of the file system.
Result<LowerLine> line_in(const LowerSet& lower);
// Returns the versions of the last line before the head's, newest first.
Result<std::vector<uint64_t>> earlier_in(const LowerSet& lower);

// The sequences that a pool, or a run, has used.
struct UsedSequences {
  uint64_t last = 0;  // all up to this one, except those that a run has only seen in lower:
  uint64_t own = 0;   // those after this one
  uint64_t seen = 0;  // up to this one

  [[nodiscard]] bool has(uint64_t sequence) const {
    return sequence <= last && (sequence <= own || sequence > seen);
  }
};

// Checks that a version of a pool may be stored beside those in lower. EEXIST: one of them is whole
// and of another line, so that it would count in place of the pool's, or be removed for it.
Status check_line(const LowerSet& lower, const Catalogue& catalogue, const UsedSequences& used,
                  uint64_t sequence);

}  // namespace cairn::checkpoint
