// A process writes a claim aside, under a name of its own, and then links it to the claim's name.
// If it is killed in between, it leaves such a name in the covered directory; the next one there
// removes it.
//
// The name (is_hidden knows its form) says who makes it: eight digits for the system that runs now
// and its process numbers, as this process sees them, eight for the process, and sixteen by chance.
// One that is of this system and whose process is gone is nobody's; of others, which may be at work
// on another host, those that are a day old.
#pragma once

#include <string>

namespace cairn::tier {

std::string claim_aside_name();
// From an open directory, which a claim is made in or a cover ends in.
void remove_claims_left(int directory);
void remove_claims_left(const std::string& directory);

}  // namespace cairn::tier
