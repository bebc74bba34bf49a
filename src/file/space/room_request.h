// Room request: a call that finds the pool full asks the keeper, a process that drains in the
// background, to drain what it can. The call then evicts what was drained.
//
// A word of the pool's state has the last request, and each keeper has words for its promise and
// its answer. A keeper promises for a while to look at requests, and renews the promise while it
// works. So nobody waits for a keeper that was killed or stopped. A request is answered once all
// keepers with a promise have answered: each drains another cover of the pool.
#pragma once

#include <cstdint>
#include <functional>

#include "file/inode/file_system.h"

namespace cairn::file {

// Tries to evict; `has_drained`: the keeper has answered, so a search is worth its while.
using TryToEvict = std::function<bool(bool has_drained)>;
// Asks, and calls `try_to_evict` until it returns true, or all keepers have drained what they can
// and a search after that was in vain, some times in a row. False: that, or there is no keeper. The
// caller is in no seat and holds no lock.
bool ask_keeper_for_room(FileSystem& fs, const TryToEvict& try_to_evict);

// For a keeper: promises to look at requests, and returns the last one that this process has not
// answered; 0: none. From then on it asks nobody itself: it would wait for itself. The first
// promise of a process may be made for a keeper that it is about to start.
uint64_t promise_room(FileSystem& fs);
// A call waits for room, or one has in vain since this process answered last; where it never
// promised anything, since any process did.
bool is_room_wanted(Pool& pool);
// Says that what could be drained after `request` is drained.
void answer_room(Pool& pool, uint64_t request);
// This process looks at no more requests.
void end_promise(Pool& pool);

}  // namespace cairn::file
