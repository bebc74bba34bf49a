// Standard streams that are files of a cover, for a command that leaves it.
//
// Such a file has a descriptor only where the preloaded library is. So this process keeps the
// library and copies between the files and pipes, while another one, a child without it, is the
// command.
#pragma once

namespace cairn::cli {

// Returns in the process that shall go on as the command: a child, if any standard stream is a
// covered file, else this one. In this one it does not return then: it ends as the child does.
void relay_covered_streams();

}  // namespace cairn::cli
