// How a cover is opened (cover.h).
#pragma once

#include <functional>
#include <string>

#include "tier/claim/membership.h"
#include "tier/cover/cover_state.h"

namespace cairn::tier {

// Called for a process that is the only member, before another one can be a member. A process that
// fails at it does not become a member.
using WhenAlone = std::function<Status(const Cover& cover)>;
// Called for a cover that is about to be discarded. Removes what higher layers keep for it.
using BeforeDiscard = std::function<Status(const Cover& cover)>;
// Called with one line about what was done to the cover without being asked for.
using Notice = std::function<void(const char* text)>;
struct OpenOptions {
  std::string job;
  bool keep = false;
  WhenAlone when_alone = {};
  std::string launch = {};  // CoverRecord::launch
  // Begins anew (discard_earlier.h) if there is a function.
  std::function<void(const CoverState& left)> left = {};
  BeforeDiscard before_discard = {};
  Notice notice = {};
};

}  // namespace cairn::tier
