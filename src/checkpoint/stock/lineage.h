// Lineage: which versions one continues, and which of them stay. Pure functions over VERSIONs.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/store/records.h"

namespace cairn::checkpoint {

// What a run says of the versions before its own.
struct Lineage {
  uint64_t parent = 0;
  uint64_t horizon = 0;
  std::vector<RangeRecord> ranges;  // abandoned, ascending
};

// Of a run that has restored `version` when sequences up to `last` had been used.
Lineage lineage_after(const VersionRecord& version, uint64_t last);
// Of a run that continues nothing.
Lineage lineage_anew(uint64_t last);
// Stores it into a VERSION whose sequence is set.
void put_lineage(const Lineage& lineage, VersionRecord* version);

// Does `sequence` belong to the line of `head`?
bool is_in_line(const VersionRecord& head, uint64_t sequence);

// Which versions stay: those that any rule names. The head always stays.
struct Retention {
  uint32_t keep = 2;            // the newest so many
  uint64_t keep_multiple = 0;   // those whose number is a multiple; 0: none
  uint64_t keep_period_ns = 0;  // the newest of each period since 1970; 0: none
};
// The sequences of `committed` that do not stay once `head`, the newest of them, is committed.
std::vector<uint64_t> beyond_retention(const std::vector<VersionRecord>& committed,
                                       const VersionRecord& head, const Retention& retention);

}  // namespace cairn::checkpoint
