// system, popen and daemon.
#pragma once

namespace posix::shell {

// Releases, in the child of a fork, what another thread of the parent held.
void after_fork();

}  // namespace posix::shell
