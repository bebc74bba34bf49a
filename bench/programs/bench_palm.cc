// bench_palm: PALM's restart data (280 variables, bench/mpi/palm/model.h) written and read as
// versions in Cairn's pool, as stream files, through MPI-IO, through parallel HDF5 and, if
// CAIRN_ADIOS2 names the directory of its library, through ADIOS2, side by side in one job of each
// MPI that was found, against what copying the same bytes takes. With --full 2 GB instead of 0.5.
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
#include "harness/report.h"
#include "harness/settings.h"

namespace cairn::bench {
namespace {

// (back end, first | create | restore) -> nanoseconds of each round.
struct Times {
  std::map<std::string, std::vector<double>> of;
  double bytes = 0;

  [[nodiscard]] const std::vector<double>* find(const std::string& name,
                                                const std::string& what) const {
    const auto found = of.find(name + "\t" + what);
    return found == of.end() || found->second.empty() ? nullptr : &found->second;
  }
};

struct Job {
  std::string mpi;
  int ranks;
  int scale;  // levels of the grid: 8 scale^3 x 2000 bytes
  int rounds;
};

void run_job(const Job& job, const Medium& medium, Times& times, int seed) {
  const std::string place = medium.path("palm");
  std::filesystem::create_directory(place);
  const double points = 256.0 * job.scale * job.scale * job.scale;
  const auto mib = static_cast<long>(points * 66 / (1 << 20));
  // The pool holds three versions, and each of five others the data once.
  const long needed = 3 * mib + 128 + 5 * mib;
  const auto available = static_cast<long>(std::filesystem::space(place).available >> 20);
  if (needed > available) {
    std::fprintf(
        stderr,
        "bench_palm: %s: %ld MiB of data need %ld MiB there, %ld are free; --medium shm may "
        "have more\n",
        place.c_str(), mib, needed, available);
    std::exit(2);
  }
  std::ostringstream command;
  command << "CAIRN_POOL_DIR='" << place
          << "/pools' CAIRN_POOL_NAME=palm CAIRN_POOL_SIZE=" << 3 * mib + 128 << "MiB mpirun."
          << job.mpi << " -n " << job.ranks << " '"
          << (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mpi" / job.mpi /
              "palm")
                 .string()
          << "' '" << place << "' " << job.scale << ' ' << job.rounds << ' ' << seed
          << " < /dev/null > '" << medium.path("times") << "'";
  if (std::system(command.str().c_str()) != 0) {
    std::fprintf(stderr, "bench_palm: failed: %s\n", command.str().c_str());
    std::exit(2);
  }
  std::ifstream lines(medium.path("times"));
  for (std::string line; std::getline(lines, line);) {
    const size_t last = line.rfind('\t');
    if (last == std::string::npos) continue;
    const double value = std::atof(line.c_str() + last);
    if (line.compare(0, last, "bytes") == 0)
      times.bytes = value;
    else
      times.of[line.substr(0, last)].push_back(value);
  }
  std::filesystem::remove_all(place);
}

// Returns the name with the least median.
std::string fastest(const Times& times, const std::string& what,
                    const std::vector<std::string>& names) {
  std::string best;
  for (const std::string& name : names) {
    const auto* const one = times.find(name, what);
    if (one != nullptr && (best.empty() || median_of(*one) < median_of(*times.find(best, what))))
      best = name;
  }
  return best;
}

class Rows {
 public:
  Rows(const Times& times, std::string group, Report& report)
      : times_(times), group_(std::move(group)), report_(report) {}

  // How fast Cairn is beside `other`.
  void add(const std::string& what, const std::string& other, Bar bar, Unit unit) const {
    const auto* const ours = times_.find("Cairn", what);
    const auto* const theirs = times_.find(other, what);
    if (ours == nullptr || theirs == nullptr) return;
    std::vector<double> ratios;
    for (size_t i = 0; i < std::min(ours->size(), theirs->size()); ++i)
      ratios.push_back((*theirs)[i] / (*ours)[i]);
    Row row;
    row.group = group_;
    row.what = what;
    row.against = other;
    row.measured = bootstrap_median(ratios);
    row.bar = bar;
    row.unit = unit;
    row.ours_ns = median_of(*ours);
    row.limit_ns = median_of(*theirs);
    row.pairs = ratios.size();
    char note[64];
    std::snprintf(note, sizeof note, "%.2f against %.2f GB/s", times_.bytes / row.ours_ns,
                  times_.bytes / row.limit_ns);
    row.note = note;
    report_.add(std::move(row));
  }

 private:
  const Times& times_;
  std::string group_;
  Report& report_;
};

void add_rows(const Times& times, const Job& job, bool is_judged, Report& report) {
  std::ostringstream group;
  group << "PALM, " << job.mpi << ", " << job.ranks << " ranks, "
        << static_cast<long>(times.bytes / 1e6) << " MB in 280 variables";
  const Rows rows(times, group.str(), report);
  const auto bar = [&](double value) { return is_judged ? Bar::at_least(value) : Bar(); };
  const std::vector<std::string> limits = {"copying with CRC, 64 KiB", "copying with CRC, 256 KiB",
                                           "copying with CRC, 1024 KiB"};
  const std::vector<std::string> files = {"MPI-IO", "HDF5"};
  for (const std::string what : {"create", "restore"}) {
    const bool is_create = what == "create";
    rows.add(what, fastest(times, what, limits), bar(is_create ? 0.90 : 0.85), Unit::percent);
    rows.add(what, "copying", Bar(), Unit::percent);
    const std::string best = fastest(times, what, files);
    for (const std::string& file : files)
      rows.add(what, file, is_create && file == best ? bar(3) : Bar(), Unit::times);
    for (const char* const other : {"ADIOS2", "stream files", "stream files with CRC"})
      rows.add(what, other, Bar(), Unit::times);
  }
  for (const std::string& file : files) rows.add("first", file, Bar(), Unit::times);
  for (const char* const other : {"ADIOS2", "stream files with CRC"})
    rows.add("first", other, Bar(), Unit::times);
}

int measure(int argc, char** argv) {
  const Settings settings = parse_settings(
      argc, argv, "PALM's restart data through several back ends, against copying the same bytes");
  const Medium medium = settings.medium == "shm" ? Medium::shared_memory() : Medium::huge_pages();
  if (!medium.ok()) {
    std::fprintf(stderr, "bench_palm: %s\n", medium.why().c_str());
    return 2;
  }
  Report report;
  report.fact("cairn", cairn_version());
  report.fact("machine", machine_name());
  report.fact("medium", medium.description());
  // Open MPI wants root to be asked twice, and all ranks to have a processor.
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe"})
    setenv(name, "1", 1);
  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mpi";
  for (const char* const mpi : {"openmpi", "mpich"}) {
    if (!std::filesystem::exists(programs / mpi / "palm")) continue;
    for (const int ranks : {2, 4}) {
      // Ranks of a collective call that share a processor mostly wait for each other.
      if (ranks > 2 && sysconf(_SC_NPROCESSORS_ONLN) < ranks) continue;
      Job job{mpi, ranks, settings.full ? 51 : 32, 10};
      if (settings.quick) job.scale = 8;
      if (settings.quick) job.rounds = 3;
      if (!settings.wants("PALM, " + job.mpi + ", " + std::to_string(ranks) + " ranks")) continue;
      Times times;
      // The first checkpoint is one for each job.
      for (int seed = 1; seed <= (settings.quick ? 1 : 2); ++seed)
        run_job(job, medium, times, seed);
      add_rows(times, job, ranks == 2, report);
    }
  }
  return report.conclude(settings.json);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  return cairn::bench::supervised(cairn::bench::measure, argc, argv);
}
