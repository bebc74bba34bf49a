// Runs of one directory inside each other, and side by side.
//
// A run inside another leaves covering, draining and waiting to the outer one, which waits for it:
// if both waited, neither would end. The environment names the outer run (CAIRN_RUN). If that was
// lost (env -i, a launcher that passes nothing on), the process tree shows the outer run. An outer
// run in another process namespace is in neither: a run that waits for processes it cannot see
// waits for a limited time.
#pragma once

#include <string>

#include "pools/place_lock.h"

namespace cairn::cli {

// This process as CAIRN_RUN names it to runs inside: HOST:PID:START. The time of its start tells it
// from another process that gets the number later.
std::string this_run();

// True if a run on this host that is still alive started this process: the one that CAIRN_RUN
// names, or an ancestor that has the lock of this directory's runs (PlaceLock::path) open.
bool named_by_environment();
bool descends_from_run(const std::string& lock_path);

enum class Wait {
  last,         // no other run is left in the directory: this one drains and ends the cover
  interrupted,  // by a signal
  left,         // other runs end the cover; this one does not wait, or cannot see them
};
// Exchanges the shared lock for the exclusive one. After two seconds it says what it waits for. A
// run that gives up releases its lock, so the last of the others gets it.
Wait wait_to_be_last(PlaceLock& running, const std::string& directory);
// Does not wait as wait_to_be_last() does, because the run's program has failed: the process that
// started the run, such as an MPI's launcher, must learn that immediately.
Wait be_last_or_leave(PlaceLock& running);

}  // namespace cairn::cli
