// Processes, as /proc shows them.
//
// A process number says little: it is used again. Number and time of start together name one
// process.
#pragma once

#include <cstdint>

namespace cairn::cli {

// 0 for the first process, and for one that cannot be seen.
int parent_of(int pid);

// Is its first thread in a system call that may wait for a device or a server? Not if it sleeps, or
// waits for another thread. True if that cannot be seen.
bool is_in_system_call(int pid);

// Has a signal such as SIGSTOP stopped the process?
bool is_stopped(int pid);

// When it started, in the ticks of /proc/PID/stat; 0 for one that has ended or cannot be seen.
uint64_t start_of(int pid);

}  // namespace cairn::cli
