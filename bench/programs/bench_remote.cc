// bench_remote: reading what lies on another host, through MPI-IO on covered files and by the same
// MPI's MPI_Get, between two hosts of testbeds/virtual-cluster.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cairn/cairn.h"
#include "harness/medium.h"
#include "harness/report.h"
#include "harness/settings.h"

namespace cairn::bench {
namespace {

// The options by which an MPI gives a window between hosts with MPI_THREAD_MULTIPLE
// (docs/design/decisions/one-sided.md). Not MPICH 4.0, which hangs between hosts in too many runs.
struct Launch {
  const char* mpi;
  const char* settings;
};
constexpr Launch launches[] = {{"openmpi", "OMPI_MCA_osc=ucx"}};

// (way, pattern) -> nanoseconds of each pass.
using Times = std::map<std::pair<std::string, std::string>, std::vector<double>>;

Times run_job(const Launch& launch, const std::string& cluster, const std::filesystem::path& build,
              const std::string& directory, bool quick) {
  const std::string output = directory + "-" + launch.mpi;
  const std::string program = (build / "bench/mpi" / launch.mpi / "remote_reads").string();
  const std::string command = std::string("env ") + launch.settings + " " + cluster +
                              " run --mpi " + launch.mpi + " --name bench-remote -n 2 -- " +
                              (build / "bin/cairn").string() + " run --at " + directory +
                              " --pool-size 512MiB --drain never -- " + program + " " + directory +
                              "/" + launch.mpi + (quick ? " 16 2" : " 64 12") + " > " + output;
  if (std::system(command.c_str()) != 0) {
    std::fprintf(stderr, "bench_remote: failed: %s\n", command.c_str());
    return {};
  }
  Times times;
  std::ifstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find('\t');
    const size_t second = line.rfind('\t');
    if (first == second) continue;
    times[{line.substr(0, first), line.substr(first + 1, second - first - 1)}].push_back(
        std::atof(line.c_str() + second));
  }
  return times;
}

int measure(int argc, char** argv) {
  const Settings settings =
      parse_settings(argc, argv, "reading from another host: MPI-IO on covered files and MPI_Get");
  const std::filesystem::path build =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  const std::string cluster = CAIRN_SOURCE_DIRECTORY "/testbeds/virtual-cluster/vcluster";
  std::string directory = std::filesystem::temp_directory_path() / "cairn-bench-remote-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) {
    std::perror(directory.c_str());
    return 2;
  }
  Report report;
  report.fact("cairn", cairn_version());
  report.fact("machine", machine_name());
  report.fact("hosts", "two namespaces of this machine, TCP over a bridge");
  if (std::system((cluster + " up 2 --name bench-remote").c_str()) != 0) return 2;
  for (const Launch& launch : launches) {
    if (!std::filesystem::exists(build / "bench/mpi" / launch.mpi / "remote_reads")) continue;
    const Times times = run_job(launch, cluster, build, directory, settings.quick);
    const auto row = [&](const char* pattern, Bar bar, Unit unit) {
      const std::string group = std::string("reading from another host, ") + launch.mpi;
      const auto ours = times.find({"cairn", pattern});
      const auto limit = times.find({"get", pattern});
      if (ours == times.end() || limit == times.end()) {
        report.skip(group, pattern, "the job failed");
        return;
      }
      std::vector<double> ratios;
      for (size_t i = 0; i < std::min(ours->second.size(), limit->second.size()); ++i)
        ratios.push_back(limit->second[i] / ours->second[i]);
      Row one;
      one.group = group;
      one.what = pattern;
      one.against = unit == Unit::percent ? "MPI_Get" : "a flush for each piece";
      one.measured = bootstrap_median(ratios);
      one.bar = bar;
      one.unit = unit;
      one.pairs = ratios.size();
      report.add(std::move(one));
    };
    row("1 MiB", Bar::at_least(0.9), Unit::percent);
    row("strided 1 KiB", Bar::at_least(8), Unit::times);
  }
  std::system((cluster + " down --name bench-remote").c_str());
  std::filesystem::remove_all(directory);
  return report.conclude(settings.json);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  return cairn::bench::supervised(cairn::bench::measure, argc, argv);
}
