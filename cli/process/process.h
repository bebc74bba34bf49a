// Processes, as /proc shows them.
//
// A process number says little: it is used again. Number and time of start together name one
// process.
#pragma once

#include <cstdint>

namespace cairn::cli {

// 0 for the first process, and for one that cannot be seen.
int parent_of(int pid);

// When it started, in the ticks of /proc/PID/stat; 0 for one that has ended or cannot be seen.
uint64_t start_of(int pid);

}  // namespace cairn::cli
