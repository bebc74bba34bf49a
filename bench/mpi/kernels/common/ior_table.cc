#include "common/ior_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/job.h"

namespace kernels {
namespace {

// IOR keeps five digits at least.
std::string number(double value) {
  char text[64];
  const int decimals = value >= 10000 ? 0 : value >= 1000 ? 1 : 2;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

struct Summary {
  double most = 0, least = 0, mean = 0, deviation = 0;
};

Summary summarize(const std::vector<double>& values) {
  Summary result;
  result.most = *std::max_element(values.begin(), values.end());
  result.least = *std::min_element(values.begin(), values.end());
  for (double value : values) result.mean += value / static_cast<double>(values.size());
  for (double value : values)
    result.deviation +=
        (value - result.mean) * (value - result.mean) / static_cast<double>(values.size());
  result.deviation = std::sqrt(result.deviation);
  return result;
}

void print_summary(const Report& report, const std::string& name) {
  std::vector<double> rates, operations, seconds;
  const Access* one = nullptr;
  for (const Access& access : report.accesses) {
    if (access.name != name) continue;
    one = &access;
    rates.push_back(access.mib_per_second());
    operations.push_back(static_cast<double>(access.calls) / access.seconds);
    seconds.push_back(access.seconds);
  }
  const Summary rate = summarize(rates);
  const Summary operation = summarize(operations);
  std::printf(
      "%-11s %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.5f %6d %3d %4zu "
      "%10lld %9lld %9.1f %s\n",
      name.c_str(), rate.most, rate.least, rate.mean, rate.deviation, operation.most,
      operation.least, operation.mean, operation.deviation, summarize(seconds).mean, job().ranks,
      job().ranks_per_node, rates.size(), static_cast<long long>(one->block_bytes),
      static_cast<long long>(one->transfer_bytes), static_cast<double>(one->bytes) / mib,
      report.api.c_str());
}

void print_check(const Report& report) {
  int64_t bytes = 0, wrong = 0;
  for (const Check& check : report.checks) {
    bytes += check.bytes;
    wrong += check.wrong;
  }
  if (report.checks.empty())
    std::printf("Check               : none\n");
  else
    std::printf("Check               : %.1f MiB compared, %lld bytes wrong%s\n",
                static_cast<double>(bytes) / mib, static_cast<long long>(wrong),
                wrong > 0 ? " [INVALID]" : "");
}

}  // namespace

double transfer_seconds(const Access& access) {
  return access.times.most("transfer") + access.times.most("sync");
}

double operations_per_second(const Access& access) {
  return static_cast<double>(access.calls) / transfer_seconds(access);
}

double latency(const Access& access) {
  const auto calls = static_cast<double>(access.calls) / job().ranks;
  return access.times.most("transfer") / std::max(calls, 1.0);
}

void print_ior_table(const Report& report) {
  std::printf(
      "\naccess    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   "
      "close(s)   total(s)   iter\n"
      "------    ---------  ----       ----------  ---------- ---------  --------   --------   "
      "--------   --------   ----\n");
  std::vector<std::string> names;
  for (const Access& access : report.accesses) {
    std::printf("%-9s %-10s %-10s %-11.6f %-10.0f %-10.2f %-10.6f %-10.6f %-10.6f %-10.6f %-4d\n",
                access.name.c_str(), number(access.mib_per_second()).c_str(),
                number(operations_per_second(access)).c_str(), latency(access),
                static_cast<double>(access.block_bytes) / 1024,
                static_cast<double>(access.transfer_bytes) / 1024, access.times.most("open"),
                transfer_seconds(access), access.times.most("close"), access.seconds,
                access.repetition);
    if (std::find(names.begin(), names.end(), access.name) == names.end())
      names.push_back(access.name);
  }
  std::printf(
      "\nSummary of all tests:\n"
      "Operation     Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)    "
      " "
      "StdDev    Mean(s) #Tasks tPN reps     blksiz     xsize aggs(MiB) API\n");
  for (const std::string& name : names) print_summary(report, name);
  print_check(report);
}

}  // namespace kernels
