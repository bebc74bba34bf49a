#include "common/latency.h"

#include <mpi.h>

#include <bit>
#include <numeric>

#include "common/job.h"

namespace kernels {
namespace {

// fio's list, so that both can be shown together.
constexpr std::array<std::pair<const char*, double>, 17> wanted = {{{"p1", 0.01},
                                                                    {"p5", 0.05},
                                                                    {"p10", 0.10},
                                                                    {"p20", 0.20},
                                                                    {"p30", 0.30},
                                                                    {"p40", 0.40},
                                                                    {"p50", 0.50},
                                                                    {"p60", 0.60},
                                                                    {"p70", 0.70},
                                                                    {"p80", 0.80},
                                                                    {"p90", 0.90},
                                                                    {"p95", 0.95},
                                                                    {"p99", 0.99},
                                                                    {"p99.5", 0.995},
                                                                    {"p99.9", 0.999},
                                                                    {"p99.95", 0.9995},
                                                                    {"p99.99", 0.9999}}};

}  // namespace

// Below `parts` a bucket is one nanosecond; from there on each power of two has `parts` buckets.
size_t Latency::bucket_of(uint64_t nanoseconds) {
  if (nanoseconds < parts) return nanoseconds;
  constexpr int bits = std::countr_zero(parts);
  const int power = std::bit_width(nanoseconds) - 1;  // at least `bits`
  const uint64_t within = (nanoseconds >> (power - bits)) - parts;
  return static_cast<size_t>(power - bits + 1) * parts + within;
}

double Latency::middle_of(size_t bucket) {
  if (bucket < 2 * parts) return static_cast<double>(bucket);
  const auto width = static_cast<double>(uint64_t{1} << (bucket / parts - 1));
  return (static_cast<double>(parts + bucket % parts) + 0.5) * width;
}

Percentiles Latency::gather() const {
  std::array<int64_t, 64 * parts> all{};
  MPI_Reduce(counts_.data(), all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_SUM, 0,
             MPI_COMM_WORLD);
  const auto total = std::accumulate(all.begin(), all.end(), int64_t{0});
  Percentiles found;
  if (total == 0) return found;
  size_t bucket = 0;
  int64_t before = all[0];
  for (const auto& [name, part] : wanted) {
    while (static_cast<double>(before) < part * static_cast<double>(total)) before += all[++bucket];
    found.emplace_back(name, middle_of(bucket));
  }
  return found;
}

}  // namespace kernels
