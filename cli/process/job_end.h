// JobEnd: what ends the processes that a run leaves behind, such as the keeper of --detach-drain.
#pragma once

#include <string>

namespace cairn::cli {

// Says what will end a process in the background, and with what; "" if nothing is known. Looks at
// the batch system's variables and below `root`, where tests put a system of their own.
//   "Slurm ends it with job 12, and removes /dev/shm of the job"
//   "it ends with this container"
std::string what_ends_background(const std::string& root = "");

}  // namespace cairn::cli
