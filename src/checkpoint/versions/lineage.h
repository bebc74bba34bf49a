// Lineage: tells which versions a version continues, and which versions stay. Pure functions over
// VERSIONs.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/store/records.h"

namespace cairn::checkpoint {

// A run's relation to the versions before its own.
struct Lineage {
  uint64_t parent = 0;
  uint64_t horizon = 0;
  std::vector<RangeRecord> ranges;  // abandoned, ascending
};

// Returns the lineage of a run that has restored `version` when sequences up to `last` had been
// used.
Lineage lineage_after(const VersionRecord& version, uint64_t last);
// Returns the lineage of a run that continues nothing.
Lineage lineage_anew(uint64_t last);
// Stores it into a VERSION whose sequence is set.
void put_lineage(const Lineage& lineage, VersionRecord* version);

// Returns true if `sequence` belongs to the line of `head`.
bool is_in_line(const VersionRecord& head, uint64_t sequence);

// The rules for versions that stay; any rule suffices. The head always stays.
struct Retention {
  uint32_t keep = 2;            // the number of newest versions
  uint64_t keep_multiple = 0;   // versions whose number is a multiple; 0: none
  uint64_t keep_period_ns = 0;  // the newest version of each period since 1970; 0: none
};
// Returns the sequences of `committed` that do not stay once `head`, the newest of them, is
// committed.
std::vector<uint64_t> beyond_retention(const std::vector<VersionRecord>& committed,
                                       const VersionRecord& head, const Retention& retention);

}  // namespace cairn::checkpoint
