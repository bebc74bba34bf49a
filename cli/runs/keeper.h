// Keeper drains a covered directory while a run goes on, and after it.
//
// `cairn run` starts it before the program in the drain modes close and async, and for
// --detach-drain. There is one for each cover on a host: a lock beside the pools says so. It is not
// a member of the cover and does not count as a run, so no run waits for it. A program that finds
// the pool full waits until the keeper has drained what is closed (cairn_room_promise). When no run
// is left, the keeper drains the rest, ends the cover and leaves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "frame/config.h"
#include "pools/place_lock.h"
#include "pools/pool_handle.h"

namespace cairn::cli {

// Starts a keeper for the cover of `directory` in the pool at `pool`, in a session of its own and
// with /dev/null as its streams. A second keeper leaves immediately; `cairn run` says so at level
// info. Returns the descriptor of its lines, for a KeeperLog. Throws if fork fails.
int start_keeper(const Config& config, const std::string& pool, const std::string& directory);

// is_keeper() is true for the command line that start_keeper() executes; run_keeper() is what that
// process does.
bool is_keeper(int argc, char** argv);
int run_keeper(int argc, char** argv);

// Ends the keeper of the cover, if there is one, and waits at most ten seconds for that, because
// lower may not answer. While the object lives, a new keeper leaves immediately.
std::unique_ptr<PlaceLock> end_keeper(const std::string& pool, const std::string& directory);

// The state of a cover's keeper, for `cairn status`.
struct KeeperState {
  int pid = 0;
  uint64_t drained_bytes = 0;  // written to lower since it began, known to a second
  std::string problem;         // why the last drain failed; "" if it did not
};
// None: no keeper is at work.
std::optional<KeeperState> look_at_keeper(const Pool& pool, const std::string& directory);
// The process number of a keeper at work that is stopped (SIGSTOP), and so makes no room; 0: none.
int stopped_keeper(const Pool& pool, const std::string& directory);

}  // namespace cairn::cli
