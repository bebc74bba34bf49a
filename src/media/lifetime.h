// Lifetime: warns about logouts and job ends that remove a pool's files.
#pragma once

#include <string>
#include <vector>

#include "media/file_system.h"

namespace cairn::media {

// Returns one sentence per reason why a logout or the end of a job would remove the file at `path`,
// or one made there; empty if no reason is known. Reads the environment of this process. A warning
// has to be right: if the system does not tell, or the user is not logged in, there is none.
std::vector<std::string> lifetime_warnings(const std::string& path,
                                           const SystemRoot& root = SystemRoot());

// Returns true if logind removes a user's files in /dev/shm at logout, by the text of a
// logind.conf: the last RemoveIPC= wins, `before` if there is none.
bool parse_remove_ipc(const std::string& text, bool before);

}  // namespace cairn::media
