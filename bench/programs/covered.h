// Benchmarks of unchanged programs: each runs itself under `cairn run`, and compares a covered
// directory with a plain one on the same /dev/shm.
#pragma once

#include <string>
#include <vector>

#include "harness/report.h"
#include "harness/settings.h"

namespace cairn::bench {

struct CoveredBenchmark {
  const char* name;
  const char* purpose;
  std::vector<std::string> options;  // for `cairn run`, besides where and how large
  // Under `cairn run`; the directory holds covered/ and plain/, and is removed afterwards.
  void (*measure)(const Settings& settings, const std::string& directory, Report& report);
};

// All that such a program's main() does; returns its exit code.
int run_covered(const CoveredBenchmark& benchmark, int argc, char** argv);

}  // namespace cairn::bench
