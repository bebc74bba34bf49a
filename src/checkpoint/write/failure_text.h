// FailureText: passes the text of one rank's failure to the other ranks of the run. The text lies
// in the file `agree` of the set. It is optional: if it cannot be stored, ranks know only the
// error's number.
#pragma once

#include <string>

#include "checkpoint/run/run.h"

namespace cairn::checkpoint {

// The place of a text: for versions with an even and an odd sequence, and for a meeting.
enum class TextPlace : uint64_t { even = 0, odd = 1, meeting = 2 };
inline TextPlace place_of(uint64_t sequence) {
  return sequence % 2 == 0 ? TextPlace::even : TextPlace::odd;
}

inline uint64_t tag_of(uint64_t sequence, uint32_t rank) {
  constexpr unsigned rank_shift = 40;
  return sequence ^ uint64_t { rank } << rank_shift;
}

// Stores a text for the ranks of this node. `tag` names the occasion.
void tell_text(const Run& run, TextPlace place, uint64_t tag, const std::string& text);
// Returns the text of this occasion, or "".
std::string told_text(const Run& run, TextPlace place, uint64_t tag);

// Returns the text of the failed rank, or "". Called by all ranks of all nodes, once they know that
// one of them failed. `is_mine`: the failed rank is this one. `arrived`: as for
// Run::barrier_reduce().
std::string share_text(Run* run, Run::Purpose purpose, bool is_mine, const std::string& text,
                       uint64_t arrived);

}  // namespace cairn::checkpoint
