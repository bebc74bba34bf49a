// bench_mpiio: MPI-IO on covered files, on 2 ranks of every MPI that was found, against copies
// between the ranks' buffers and one mapping and against the MPIs' own I/O on the same medium. The
// passes of one job come in turn, and so do the jobs of the MPIs. Then what ranks do that write
// once, and the checkpoint loop.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cairn/cairn.h"
#include "harness/medium.h"
#include "harness/pools.h"
#include "harness/report.h"
#include "harness/settings.h"
#include "programs/mpiio_checkpoint.h"
#include "programs/mpiio_once.h"

namespace cairn::bench {
namespace {

// A row of the table of bars.
struct Bars {
  const char* pattern;
  double write, read;     // of copying
  double times_on_write;  // the better of the MPIs' own; 0: none
  double times_on_read;
};
constexpr Bars all_bars[] = {
    {"independent 4 KiB", 0.90, 0.95, 2.7, 0}, {"independent 32 KiB", 0.95, 0.95, 2.6, 0},
    {"independent 1 MiB", 0.95, 0.95, 2.4, 0}, {"collective 4 KiB", 0.85, 0.90, 5, 5},
    {"collective 1 MiB", 0.95, 0.95, 0, 0},    {"interleaved 47008 B", 0.90, 0.90, 0, 0},
    {"strided view 1 KiB", 0.70, 0.70, 5, 5},  {"another decomposition", 0, 0.90, 0, 0},
};

// (MPI, way, pattern, direction) -> nanoseconds of each pass.
using Times = std::map<std::string, std::vector<double>>;

std::string key(const std::string& mpi, const std::string& way, const std::string& pattern,
                const std::string& direction) {
  return mpi + "\t" + way + "\t" + pattern + "\t" + direction;
}

void run_job(const std::string& mpi, const std::filesystem::path& program, const Medium& medium,
             size_t mib, size_t rounds, int ranks, Times& times) {
  const std::filesystem::path cairn =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin/cairn";
  const std::string output = medium.path("times");
  std::ostringstream command;
  command << cairn << " run --drain never --at " << medium.path("covered") << " --pool-dir "
          << medium.path("pools") << " --pool-size " << mib * static_cast<size_t>(ranks) + 512
          << "MiB -- mpirun." << mpi << " -n " << ranks << " " << program.string() << " "
          << medium.path("covered") << "/file " << medium.path("plain") << "-" << mpi << " "
          << medium.path("mapped") << " " << mib << " " << rounds << " > " << output;
  if (std::system(command.str().c_str()) != 0) {
    std::fprintf(stderr, "bench_mpiio: failed: %s\n", command.str().c_str());
    std::exit(2);
  }
  std::ifstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const size_t last = line.rfind('\t');
    if (last != std::string::npos)
      times[mpi + "\t" + line.substr(0, last)].push_back(std::atof(line.c_str() + last));
  }
}

// Divides the time of the fastest of the others by ours, for each pass of the same round.
std::vector<double> ratios(const Times& times, const std::string& ours,
                           const std::vector<std::string>& others) {
  std::vector<double> result;
  const std::string* best = nullptr;
  for (const std::string& other : others)
    if (times.contains(other) &&
        (best == nullptr || median_of(times.at(other)) < median_of(times.at(*best))))
      best = &other;
  if (best == nullptr || !times.contains(ours)) return result;
  const auto& a = times.at(ours);
  const auto& b = times.at(*best);
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) result.push_back(b[i] / a[i]);
  return result;
}

void add_rows(const Times& times, const std::vector<std::string>& mpis, int ranks, bool judged,
              Report& report) {
  const std::string on = std::to_string(ranks) + " ranks";
  for (const std::string& mpi : mpis) {
    for (const Bars& bars : all_bars) {
      for (const std::string direction : {"write", "read"}) {
        const std::string ours = key(mpi, "cairn", bars.pattern, direction);
        if (!times.contains(ours)) continue;
        const auto row = [&](const char* against, const std::vector<std::string>& others,
                             double bar, Unit unit) {
          const auto measured = ratios(times, ours, others);
          if (measured.empty()) return;
          Row one;
          one.group = on + ", " + mpi + ", " + direction;
          one.what = bars.pattern;
          one.against = against;
          one.measured = bootstrap_median(measured);
          if (judged && bar > 0) one.bar = Bar::at_least(bar);
          one.unit = unit;
          one.pairs = measured.size();
          report.add(std::move(one));
        };
        const bool write = direction == "write";
        row("copying",
            {key(mpi, "copy", bars.pattern, direction),
             key(mpi, "stream", bars.pattern, direction)},
            write ? bars.write : bars.read, Unit::percent);
        std::vector<std::string> own;
        for (const std::string& one : mpis) own.push_back(key(one, "own", bars.pattern, direction));
        row("the MPIs' own", own, write ? bars.times_on_write : bars.times_on_read, Unit::times);
      }
    }
  }
}

int measure(int argc, char** argv) {
  const Settings settings =
      parse_settings(argc, argv, "MPI-IO on covered files against copying and the MPIs' own I/O");
  const Medium medium = settings.medium == "shm" ? Medium::shared_memory() : Medium::huge_pages();
  if (!medium.ok()) {
    std::fprintf(stderr, "bench_mpiio: %s\n", medium.why().c_str());
    return 2;
  }
  Report report;
  report.fact("cairn", cairn_version());
  report.fact("machine", machine_name());
  report.fact("medium", medium.description());
  for (const char* name : {"covered", "pools"})
    must_posix(mkdir(medium.path(name).c_str(), 0700), name);
  // Open MPI wants root to be asked twice, and all ranks to have a processor.
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe"})
    setenv(name, "1", 1);
  std::vector<std::string> mpis;
  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mpi";
  for (const char* mpi : {"openmpi", "mpich"})
    if (std::filesystem::exists(programs / mpi / "patterns")) mpis.emplace_back(mpi);
  for (const std::string& mpi : mpis) {
    const auto backend =
        programs.parent_path().parent_path() / "lib/cairn" / ("mpiio_" + mpi + ".so");
    if (std::filesystem::exists(backend)) continue;
    // The MPI's own I/O on covered files would be taken for ours.
    std::fprintf(stderr, "bench_mpiio: %s: missing, so MPI-IO would not be served; build it\n",
                 backend.c_str());
    return 2;
  }
  const size_t mib = settings.quick ? 16 : 128;
  for (const int ranks : {2, 4}) {
    if (!settings.wants(std::to_string(ranks) + " ranks")) continue;
    Times times;
    const size_t jobs = settings.quick ? 1 : ranks == 2 ? 4 : 1;
    for (size_t job = 0; job < jobs; ++job)
      for (const std::string& mpi : mpis)
        run_job(mpi, programs / mpi / "patterns", medium, ranks == 2 ? mib : mib / 2,
                settings.quick ? 2 : 6, ranks, times);
    add_rows(times, mpis, ranks, ranks == 2, report);
  }
  if (settings.wants("new ranks write once")) write_once_rows(settings, programs, mpis, report);
  const Medium shm = Medium::shared_memory();
  if (!shm.ok()) {
    std::fprintf(stderr, "bench_mpiio: %s\n", shm.why().c_str());
    return 2;
  }
  mpi_checkpoint_rows(settings, programs, mpis, medium, shm, report);
  return report.conclude(settings.json);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  return cairn::bench::supervised(cairn::bench::measure, argc, argv);
}
