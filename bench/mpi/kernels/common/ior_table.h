// IOR's table of results and its summary, for the accesses of any kernel.
#pragma once

#include "common/report.h"

namespace kernels {

void print_ior_table(const Report& report);

// The columns of IOR. Its transfer contains the fsync.
double transfer_seconds(const Access& access);
double operations_per_second(const Access& access);
double latency(const Access& access);  // seconds, mean of one rank's calls

}  // namespace kernels
