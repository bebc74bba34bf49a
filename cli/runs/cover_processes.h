// CoverProcesses: finds processes that a run has started and that have not attached its pool yet.
//
// Such a process carries the preloaded library, and its environment names the cover and the pool.
// It attaches as soon as it looks at the covered directory, so a drain waits for it. The owner of a
// process writes its environment: only processes of the pool's user count, and those that can carry
// the library (docs/design/trust.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::cli {

// In cairn_lane_info::lane of a process that has no lane.
inline constexpr uint32_t not_attached = UINT32_MAX;

// True if the process's environment names the cover of `directory`, or cannot be read.
bool may_use_cover(int pid, const std::string& directory);

// The processes other than this one that may attach `pool` because of their environment.
std::vector<int> processes_that_may_attach(const std::string& directory, const std::string& pool);

// The name of its program; "" if it has ended.
std::string program_name_of(int pid);

// Tells from the mappings of a process, as /proc/PID/maps lists them, if it carries the preloaded
// library.
enum class Carries {
  library,
  perhaps,  // it has not loaded any library yet, and is going to
  nothing,  // it is linked statically, or has loaded its libraries without this one
};
Carries carries_library(const std::string& maps);

}  // namespace cairn::cli
