// Who may remove files behind our back: logouts and job ends.
#pragma once

#include <string>
#include <vector>

#include "media/file_system.h"

namespace cairn::media {

// One sentence per reason why a logout or the end of a job would remove what lies, or will lie, at
// `path`; empty if none is known. Looks at the environment of this process. A warning has to be
// right: where the system does not say so, or the user is not logged in, there is none.
std::vector<std::string> lifetime_warnings(const std::string& path,
                                           const SystemRoot& root = SystemRoot());

// Whether logind removes a user's files in /dev/shm at logout, by the text of a logind.conf: the
// last RemoveIPC= wins, `before` where there is none.
bool parse_remove_ipc(const std::string& text, bool before);

}  // namespace cairn::media
