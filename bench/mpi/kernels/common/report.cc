#include "common/report.h"

#include <cstdio>

namespace kernels {

bool Report::valid() const {
  for (const Check& check : checks)
    if (check.wrong > 0) return false;
  return true;
}

void print_checks(const Report& report) {
  for (const Check& check : report.checks)
    std::printf("%lld bytes verified, %lld wrong%s\n", static_cast<long long>(check.bytes),
                static_cast<long long>(check.wrong), check.wrong > 0 ? " [INVALID]" : "");
}

}  // namespace kernels
