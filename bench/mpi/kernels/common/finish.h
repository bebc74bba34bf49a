// finish() ends a kernel: it prints the report in the format that was asked for.
#pragma once

#include <functional>

#include "common/arguments.h"
#include "common/report.h"

namespace kernels {

// Rank 0 prints; `original` prints the lines of the original program. Wrong bytes are named on
// stderr, too. Finalizes MPI and returns the exit code.
int finish(const Report& report, Format format, const std::function<void()>& original);

}  // namespace kernels
