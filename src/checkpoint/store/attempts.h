// The word `attempts` of a slot: how many restarts from its version no checkpoint has confirmed. A
// run counts once. Its restart does not count if the run was ended from outside, such as by the
// scheduler, unless one of its processes crashed: then the others are ended because of that.
#pragma once

#include <cstdint>

#include "checkpoint/store/set_file.h"
#include "pool/core/pool.h"

namespace cairn::checkpoint {

// What the word says of the run that counted last.
uint32_t name_of_run(const Uuid& run);
bool has_counted(uint64_t word, uint32_t run);

uint32_t attempts_in(uint64_t word);
// Those of other runs.
uint32_t attempts_before(uint64_t word, uint32_t run);

// Counts a restart of this run, once. Durable after a fence.
void count_attempt(pool::Pool& pool, persist::Word* word, uint32_t run);

enum class RunEnd : uint8_t { from_outside, by_itself };
// How a process of the run ended, if the run counted last. Async-signal-safe.
void note_end(pool::Pool& pool, persist::Word* word, uint32_t run, RunEnd end);

}  // namespace cairn::checkpoint
