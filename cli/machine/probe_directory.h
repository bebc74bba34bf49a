// ProbeDirectory asks a directory's file system for an answer, for commands that must not hang
// where a server does.
#pragma once

#include <string>

namespace cairn::cli {

// Does the file system answer within two seconds, be it with an error? A child process asks. If it
// gets no answer, it is killed, and not waited for.
bool answers_soon(const std::string& directory);

}  // namespace cairn::cli
