#include "common/stopwatch.h"

#include <algorithm>

#include "common/job.h"

namespace kernels {
namespace {

std::vector<double> all_ranks(double seconds) {
  std::vector<double> all;
  if (job().ranks > listed_ranks) return all;
  if (job().rank == 0) all.resize(static_cast<size_t>(job().ranks));
  MPI_Gather(&seconds, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return all;
}

}  // namespace

double Times::most(const std::string& phase) const {
  for (const Phase& each : phases)
    if (each.name == phase) return each.most;
  return 0;
}

Times& Times::operator+=(const Times& other) {
  first += other.first;
  last += other.last;
  for (const Phase& more : other.phases) {
    const auto known = std::find_if(phases.begin(), phases.end(),
                                    [&](const Phase& phase) { return phase.name == more.name; });
    if (known == phases.end()) {
      phases.push_back(more);
      continue;
    }
    known->least += more.least;
    known->most += more.most;
    for (size_t rank = 0; rank < std::min(known->ranks.size(), more.ranks.size()); ++rank)
      known->ranks[rank] += more.ranks[rank];
  }
  return *this;
}

Stopwatch::Stopwatch() {
  MPI_Barrier(MPI_COMM_WORLD);
  begin_ = last_lap_ = MPI_Wtime();
}

void Stopwatch::lap(const char* phase) {
  const double now = MPI_Wtime();
  const double spent = now - last_lap_;
  last_lap_ = now;
  const auto known =
      std::find_if(laps_.begin(), laps_.end(), [&](const auto& lap) { return lap.first == phase; });
  if (known == laps_.end())
    laps_.emplace_back(phase, spent);
  else
    known->second += spent;
}

Times Stopwatch::stop(size_t laps) const {
  Times times;
  double total = 0;
  for (size_t i = 0; i < std::min(laps, laps_.size()); ++i) {
    const auto& [name, spent] = laps_[i];
    total += spent;
    times.phases.push_back({name, lowest(spent), highest(spent), all_ranks(spent)});
  }
  times.first = lowest(total);
  times.last = highest(total);
  note_memory();
  return times;
}

}  // namespace kernels
