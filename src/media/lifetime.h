// Who may remove a pool behind our back: logouts, job ends, containers.
#pragma once

#include <string>
#include <vector>

#include "media/file_system.h"

namespace cairn::media {

// One sentence per reason why what lies at `path` may not live as long as its user expects, or may be
// smaller than it seems; empty if none is known. Looks at the environment of this process.
std::vector<std::string> lifetime_warnings(const std::string& path,
                                           const SystemRoot& root = SystemRoot());

// Whether logind removes a user's files in /dev/shm at logout, by the text of a logind.conf: the last
// RemoveIPC= wins, `before` where there is none.
bool parse_remove_ipc(const std::string& text, bool before);

}  // namespace cairn::media
