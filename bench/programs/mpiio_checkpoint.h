// The checkpoint loop through MPI-IO: ranks replace their shared file by the next one, with 32 MiB
// a rank.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/medium.h"
#include "harness/report.h"
#include "harness/settings.h"

namespace cairn::bench {

// Adds rows for each MPI: against the faster of its own I/O and POSIX calls on plain tmpfs, and
// against copying. `programs` is the directory with those of each MPI.
void mpi_checkpoint_rows(const Settings& settings, const std::filesystem::path& programs,
                         const std::vector<std::string>& mpis, const Medium& huge,
                         const Medium& shm, Report& report);

}  // namespace cairn::bench
