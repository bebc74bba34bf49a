// The host of a virtual machine provides memory when the machine touches it for the first time,
// which costs more than all later touches. touch_free_memory() pays that before contenders do, of
// which the first one would pay for all.
#pragma once

#include <cstddef>
#include <string>

namespace cairn::bench {

// Stores to all free memory once, on all processors, and frees it again. Returns in words how much
// that was. A part is left to other programs. A child process does the work: if a memory limit ends
// it, the benchmark goes on and the words say so.
std::string touch_free_memory();

// MemAvailable of /proc/meminfo, in bytes.
size_t available_memory();

}  // namespace cairn::bench
