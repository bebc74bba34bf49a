// Names temporary files of claims. A process writes a claim under such a name, and then links it to
// the claim's name. If it is killed in between, the next process there removes the file.
//
// The name (is_hidden() knows its form) holds eight digits for the system and its process numbers,
// eight for the process, and sixteen random ones. A file of this system is left over if its process
// is gone. Other files, whose processes may be at work on another host, are left over after a day.
#pragma once

#include <cstdint>
#include <string>

#include "tier/system/same_directory.h"

namespace cairn::tier {

std::string temp_claim_name();
// Removes files that are left over from a directory in which a claim is made or a cover ends. Only
// files of the user and of `owner`, as whose the directory's file system shows the user's files.
void remove_claims_left(int directory, uint64_t owner = no_owner);

}  // namespace cairn::tier
