// FailureText: what one rank met, in words, for the other ranks of the run. It lies in the file
// `agree` of the set. Nothing depends on it: where it cannot be stored, ranks know the error's
// number alone.
#pragma once

#include <string>

#include "checkpoint/run/run.h"

namespace cairn::checkpoint {

// Where a text lies: of versions with an even and an odd sequence, and of a meeting.
enum class TextPlace : uint64_t { even = 0, odd = 1, meeting = 2 };
inline TextPlace place_of(uint64_t sequence) {
  return sequence % 2 == 0 ? TextPlace::even : TextPlace::odd;
}

inline uint64_t tag_of(uint64_t sequence, uint32_t rank) {
  constexpr unsigned rank_shift = 40;
  return sequence ^ uint64_t { rank } << rank_shift;
}

// For the ranks of this node. `tag`: names the occasion.
void tell_text(const Run& run, TextPlace place, uint64_t tag, const std::string& text);
// "": nothing was told on this occasion.
std::string told_text(const Run& run, TextPlace place, uint64_t tag);

// All ranks of all nodes, once they know that one of them failed: its text, or "". `is_mine`: it
// is this rank's. `arrived`: as for Run::meet().
std::string share_text(Run* run, Run::Purpose purpose, bool is_mine, const std::string& text,
                       uint64_t arrived);

}  // namespace cairn::checkpoint
