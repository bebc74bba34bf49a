// The words that tier/ stores to the pool, seen by a test: a process may be killed between any two of them.
#pragma once

#include <cstdint>
#include <functional>

#include "cairn/cairn.h"

namespace cairn::test {

// Called before each store of this process to a word of `pool`, which nothing is using at this moment; they are counted from 1.
using StoreHook = std::function<void(uint64_t number)>;
void set_store_hook(cairn_pool* pool, StoreHook hook);

}  // namespace cairn::test
