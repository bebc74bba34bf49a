// Stopwatch times the phases of one access by all ranks, with two clocks for each: the first
// rank's end and the last's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kernels {

// Seconds of one phase: of the rank that spent least in it, and of the one that spent most.
struct Phase {
  std::string name;
  double least = 0;
  double most = 0;
  std::vector<double> ranks;  // of each rank, on rank 0, of a job of at most `listed_ranks`
};
constexpr int listed_ranks = 256;  // more would fill the results

// Seconds from the common start to the end of the first rank that was done, and to that of the
// last.
struct Times {
  double first = 0;
  double last = 0;
  std::vector<Phase> phases;

  [[nodiscard]] double most(const std::string& phase) const;  // 0: phase unknown
  // Accesses one after another: the sum of their times, phase by phase.
  Times& operator+=(const Times& other);
};

// Every rank measures by its own clock from the barrier that starts the watch. No clocks of
// different nodes are compared.
class Stopwatch {
 public:
  Stopwatch();  // collective
  // The time since the last lap, or since the start, counts to `phase`.
  void lap(const char* phase);
  // The first `laps` phases, by default all. Collective; every rank must have made the same laps.
  [[nodiscard]] Times stop(size_t laps = SIZE_MAX) const;

 private:
  double begin_ = 0;
  double last_lap_ = 0;
  std::vector<std::pair<std::string, double>> laps_;
};

}  // namespace kernels
