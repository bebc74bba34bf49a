// IOR's table of results and its summary, for the accesses of any kernel.
#pragma once

#include "common/report.h"

namespace kernels {

void print_ior_table(const Report& report);

// As IOR counts: fsync belongs to the transfer.
double transfer_seconds(const Access& access);
double operations_per_second(const Access& access);
double latency(const Access& access);  // seconds, mean of one rank's calls

}  // namespace kernels
