// The checkpoint loop has its media, bars and rows here, for POSIX calls (core/checkpoint.cc) and
// for MPI-IO (mpiio_checkpoint.cc).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/medium.h"
#include "harness/report.h"
#include "harness/settings.h"

namespace cairn::bench {

inline constexpr const char* checkpoint_loop = "checkpoint loop";

// A row whose bar is 0 is shown without one.
struct LoopBars {
  double of_copying;      // steady state: share of the speed of copying into a warm mapping
  double times_plain;     // steady state: times the speed of the same calls on plain tmpfs
  double first_of_plain;  // share of the speed of plain tmpfs, first checkpoint in a fresh pool
  double small_files;     // times the speed of plain tmpfs
  double most_held;       // memory that the pool's files hold, in checkpoints
};
inline constexpr LoopBars large_page_bars{0.85, 1.3, 0.95, 1, 2.5};
inline constexpr LoopBars small_page_bars{0, 2, 0.95, 1, 2.5};
inline constexpr LoopBars no_bars{};

// After this many checkpoints the memory of the pool's files is read.
inline constexpr size_t checkpoints_until_held = 100;
// First checkpoints are measured in at least this many fresh pools.
inline constexpr size_t least_first_rounds = 15;
// Each contender writes this many checkpoints before the steady state is measured: from the third
// one on, memory of an earlier one is free, also where the last one stays until it is renamed over.
inline constexpr size_t warm_rounds = 2;

struct LoopMedium {
  const Medium* medium;
  std::string name;  // as in the names of groups
  LoopBars bars;
};
// Returns the media that the settings ask for and that could be had. `huge` may be a medium without
// large pages.
std::vector<LoopMedium> loop_media(const Settings& settings, const Medium& huge, const Medium& shm);

struct LoopGroup {
  std::string name;  // begins with the loop's
  std::function<void(const std::string& name)> measure;
};
// Measures the groups that the settings ask for, after all free memory was touched once. Large
// pages that could not be had are reported as not measured.
void measure_loop(const Settings& settings, const Medium& huge,
                  const std::vector<LoopGroup>& groups, Report& report);

// Returns an empty text if checkpoints of `bytes` (of all processes together) fit into a pool that
// `cairn run` makes and into plain files beside it, with `mapped` bytes of mappings; else what is
// missing.
std::string why_no_room(const Medium& medium, size_t bytes, size_t mapped);

// Nanoseconds of one contender's rounds. Rounds of the same index belong together.
struct LoopTimes {
  std::string name;
  std::vector<double> wall;
  std::vector<double> processor;
};

struct LoopResult {
  std::string group;
  std::string what;
  size_t bytes = 0;  // of one checkpoint, all processes together; 0: no checkpoint
  size_t calls = 0;  // that one process makes for it
  LoopTimes ours = {};
  std::vector<LoopTimes> copying = {};
  std::vector<LoopTimes> plain = {};
};

// Returns the speed against copying and against plain tmpfs, and the processor time of all
// processes against that of plain tmpfs. Each limit is the contender with the least median.
std::vector<Row> steady_rows(const LoopResult& result, const LoopBars& bars);
// Returns the memory that the pool's files hold after so many checkpoints.
Row held_row(const LoopResult& result, uint64_t held, size_t checkpoints, const LoopBars& bars);
// Returns the speed of the first checkpoint, and that of plain tmpfs against itself. again: other
// first rounds of plain tmpfs in the same contest.
std::vector<Row> first_rows(const LoopResult& result, const LoopTimes& again, const LoopBars& bars);

}  // namespace cairn::bench
