// Room request: a call that finds the pool full asks the keeper, a process that drains in the
// background, to drain what it can. The call then evicts what was drained.
//
// Three words of the pool's state carry this. The keeper promises for a while to look at requests,
// and renews the promise while it works. So nobody waits for a keeper that was killed or stopped.
#pragma once

#include <cstdint>
#include <functional>

#include "file/inode/file_system.h"

namespace cairn::file {

// Tries to evict; `has_drained`: the keeper has answered, so a search is worth its while.
using TryToEvict = std::function<bool(bool has_drained)>;
// Asks, and calls `try_to_evict` until it returns true, or the keeper has drained what it can and a
// search after that was in vain, some times in a row. False: that, or there is no keeper. The
// caller is in no seat and holds no lock.
bool ask_keeper_for_room(FileSystem& fs, const TryToEvict& try_to_evict);

// For the keeper: promises to look at requests, and returns the last one that is not answered; 0:
// none. From then on this process itself asks nobody: it would wait for itself.
uint64_t promise_room(FileSystem& fs);
// A call waits for room, or one has in vain since the last answer.
bool is_room_wanted(const Pool& pool);
// Says that what could be drained after `request` is drained.
void answer_room(Pool& pool, uint64_t request);
// The keeper looks at no more requests.
void end_promise(Pool& pool);

}  // namespace cairn::file
