// Small files in /dev/shm by which the ranks of a host find each other when they start or open a
// file through MPI-IO (adapters/mpiio/). The process that made one removes it once all have it, and
// stays locked to it until then.
#pragma once

#include <string>
#include <vector>

namespace cairn::cli {

// Lists the segments whose makers were killed.
std::vector<std::string> list_shared_memory_left();
// ENOENT: it is gone by itself; EBUSY: a process uses it after all. 0 or a positive errno.
int remove_shared_memory_left(const std::string& path);

}  // namespace cairn::cli
