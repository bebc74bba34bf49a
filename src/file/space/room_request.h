// Room request: a call that finds the pool full asks the keeper, a process that drains in the
// background, to drain what it can. The call then evicts what was drained.
//
// A word of the pool's state has the last request, and each keeper has words for its promise and
// its answer. A keeper promises for a while to look at requests, and renews the promise while it
// works. So no call waits for a keeper that was killed or stopped. A request is answered once all
// keepers with a promise have answered: each drains another cover of the pool.
#pragma once

#include <cstdint>
#include <functional>

#include "file/inode/file_system.h"

namespace cairn::file {

// Tries to evict. `has_drained`: the keeper has answered, so a search is worthwhile.
using TryToEvict = std::function<bool(bool has_drained)>;
// Asks the keepers for room, and calls `try_to_evict` until it returns true. Returns false if there
// is no keeper, or if all keepers have drained what they can and several searches after that found
// nothing. The caller is in no seat and holds no lock.
bool ask_keeper_for_room(FileSystem& fs, const TryToEvict& try_to_evict);

// Promises, for a keeper, to look at requests. Returns the last request that this process has not
// answered, 0 if none. A process that has promised asks no keeper itself, because it would wait for
// itself. A process may make its first promise for a keeper that it is about to start.
uint64_t promise_room(FileSystem& fs);
// Returns true if a call waits for room, or has waited in vain since this process last answered. If
// this process never promised, the time since any process answered counts.
bool is_room_wanted(Pool& pool);
// Announces that everything that could be drained after `request` is drained.
void answer_room(Pool& pool, uint64_t request);
// Announces that this process no longer looks at requests.
void end_promise(Pool& pool);

}  // namespace cairn::file
