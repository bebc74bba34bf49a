// Attempts: a slot's word `attempts` counts the restarts from its version that no checkpoint has
// confirmed. A run counts once. A restart does not count if the run was ended from outside, such as
// by the scheduler, unless one of its processes crashed: then the others were ended because of the
// crash.
#pragma once

#include <cstdint>

#include "checkpoint/store/set_file.h"
#include "pool/core/pool.h"

namespace cairn::checkpoint {

// Returns the name by which the word knows the run that counted last.
uint32_t name_of_run(const Uuid& run);
bool has_counted(uint64_t word, uint32_t run);

uint32_t attempts_in(uint64_t word);
// Returns the attempts of other runs.
uint32_t attempts_before(uint64_t word, uint32_t run);

// Counts a restart of this run, once. The count is durable after a fence.
void count_attempt(pool::Pool& pool, persist::Word* word, uint32_t run);

enum class RunEnd : uint8_t { from_outside, by_itself };
// Records how a process of the run ended, if the run counted last. Async-signal-safe.
void note_end(pool::Pool& pool, persist::Word* word, uint32_t run, RunEnd end);

}  // namespace cairn::checkpoint
