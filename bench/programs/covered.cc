#include "programs/covered.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "harness/medium.h"
#include "harness/pools.h"

namespace cairn::bench {
namespace {

// Set where the benchmark runs under `cairn run`: the directory to work in.
constexpr const char* inside_variable = "CAIRN_BENCH_INSIDE";

int inside(const CoveredBenchmark& benchmark, const std::string& directory, int argc, char** argv) {
  const Settings settings = parse_settings(argc, argv, benchmark.purpose);
  Report report;
  report.fact("cairn", cairn_version());
  report.fact("machine", machine_name());
  report.fact("medium", "/dev/shm, 4 KiB pages");
  benchmark.measure(settings, directory, report);
  return report.conclude(settings.json);
}

int outside(const CoveredBenchmark& benchmark, int argc, char** argv) {
  // Its help and complaints come before anything is made.
  parse_settings(argc, argv, benchmark.purpose);
  const Medium shm = Medium::shared_memory();
  if (!shm.ok()) {
    std::fprintf(stderr, "%s: %s\n", benchmark.name, shm.why().c_str());
    return 2;
  }
  for (const char* name : {"covered", "plain", "pools"})
    must_posix(mkdir(shm.path(name).c_str(), 0700), name);
  setenv(inside_variable, shm.directory().c_str(), 1);
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string cairn = self.parent_path().parent_path() / "bin/cairn";
  std::vector<std::string> words{cairn, "run", "--at", shm.path("covered")};
  words.insert(words.end(), benchmark.options.begin(), benchmark.options.end());
  words.insert(words.end(), {"--pool-dir", shm.path("pools"), "--pool-size", "1GiB", "--", self});
  words.insert(words.end(), argv + 1, argv + argc);
  const pid_t child = fork();
  must_posix(child, "fork");
  if (child == 0) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(cairn.c_str(), arguments.data());
    std::perror(cairn.c_str());
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

}  // namespace

int run_covered(const CoveredBenchmark& benchmark, int argc, char** argv) {
  if (const char* directory = std::getenv(inside_variable))
    return inside(benchmark, directory, argc, argv);
  return supervised([&](int count, char** words) { return outside(benchmark, count, words); }, argc,
                    argv);
}

}  // namespace cairn::bench
