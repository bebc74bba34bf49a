// Walks whole trees in the cover (fts).
#pragma once

namespace posix::fts {

// Releases, in the child of a fork, the list of walks, which another thread of the parent held.
void after_fork();

}  // namespace posix::fts
