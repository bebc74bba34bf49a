// Ranks that have just been started write once, on /dev/shm with 4 KiB pages: what most checkpoints
// are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/report.h"
#include "harness/settings.h"

namespace cairn::bench {

// On 2 ranks of each MPI, into a pool that is there already: against a file for each rank by POSIX
// calls, and against the better of the MPIs' own I/O on a shared file. `programs`: where those of
// each MPI lie.
void write_once_rows(const Settings& settings, const std::filesystem::path& programs,
                     const std::vector<std::string>& mpis, Report& report);

}  // namespace cairn::bench
