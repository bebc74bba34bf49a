// bench_tiers: what a program waits for while its files are drained: in the modes close and async
// against never, and with five times what its pool holds against the same program on lower itself.
// Also how fast files are drained beside a program that leaves one processor free, and what an
// eviction costs.
// Starts `cairn run`. Lower is a directory on a disk: CAIRN_BENCH_LOWER names one, else it lies in
// the working directory.
//
// Each program says in a file how long its own work took, fsync at the close of every file
// included. So the start of a run and the drain at its end are not in these times; the last row has
// them.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "harness/contest.h"
#include "harness/report.h"
#include "harness/settings.h"
#include "programs/tiers_evict.h"

namespace cairn::bench {
namespace {

constexpr int megabyte = 1 << 20;

double wall_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void shell(const std::string& command) {
  if (std::system(command.c_str()) == 0) return;
  std::fprintf(stderr, "bench_tiers: failed: %s\n", command.c_str());
  std::exit(2);
}

struct Places {
  std::string cairn;  // the command, of the same build
  std::string lower;  // on the disk
  std::string pools;  // in memory
  std::string time;   // where the program writes how long it took
};

// Writes `files` files of `each` MiB; after each one it computes for `compute` seconds. `alone`: on
// the first processor only.
struct Program {
  int files;
  int each;
  double compute;
  bool alone = false;
};

// Runs the program in `lower` behind `prefix`; returns what it took by itself.
double run(const Places& places, const Program& program, const std::string& prefix,
           double* whole = nullptr) {
  shell("rm -rf '" + places.lower + "'/* && sync");
  const double begun = wall_ns();
  shell(prefix + " python3 -c '\nimport os, time\n" +
        (program.alone ? "os.sched_setaffinity(0, {0})\n" : "") +
        "begun = time.monotonic()\nbytes = os.urandom(" + std::to_string(megabyte) +
        ")\nfor i in range(" + std::to_string(program.files) + "):\n  with open(\"" + places.lower +
        "/f%d\" % i, \"wb\", buffering=0) as file:\n" + "    for j in range(" +
        std::to_string(program.each) +
        "): file.write(bytes)\n    os.fsync(file.fileno())\n  end = time.monotonic() + " +
        std::to_string(program.compute) + "\n  while time.monotonic() < end: pass\nopen(\"" +
        places.time + "\", \"w\").write(str(int((time.monotonic() - begun) * 1e9)))\n'");
  if (whole != nullptr) *whole = wall_ns() - begun;
  double own = 0;
  std::ifstream(places.time) >> own;
  return own;
}

std::string covered(const Places& places, const std::string& pool_size, const std::string& mode) {
  return "CAIRN_POOL_DIR='" + places.pools + "' '" + places.cairn + "' run --at '" + places.lower +
         "' --pool-size " + pool_size + " --drain-quiet 0 --drain " + mode + " --";
}

void discard(const Places& places) {
  shell("CAIRN_POOL_DIR='" + places.pools + "' '" + places.cairn + "' discard '" + places.lower +
        "' > /dev/null 2>&1 || true");
}

// A program that computes and writes, while what it has written is drained.
void add_meanwhile(const Settings& settings, const Places& places, const std::string& mode,
                   Report& report) {
  const Program program = {settings.quick ? 3 : 8, 64, 0.5};
  Contest contest;
  contest.add(mode, [&](size_t) { return run(places, program, covered(places, "1G", mode)); });
  contest.add("never", [&](size_t) {
    const double took = run(places, program, covered(places, "1G", "never"));
    discard(places);
    return took;
  });
  contest.run(settings.quick ? 2 : 6);
  Row row;
  row.group = "drained while the program runs";
  row.what = mode;
  row.against = "never";
  row.measured = bootstrap_median(contest.speed_ratios(0, 1));
  row.bar = Bar::at_least(0.9);
  row.ours_ns = contest.median(0);
  row.limit_ns = contest.median(1);
  row.pairs = contest.rounds();
  report.add(std::move(row));
}

// Five times what the pool holds, in files of which four fit.
void add_larger(const Settings& settings, const Places& places, Report& report) {
  const Program program = {settings.quick ? 5 : 20, 64, 0};
  const std::string size = settings.quick ? "128M" : "256M";
  std::vector<double> wholes;
  Contest contest;
  contest.add("async", [&](size_t) {
    double whole = 0;
    const double took = run(places, program, covered(places, size, "async"), &whole);
    wholes.push_back(whole);
    return took;
  });
  contest.add("lower", [&](size_t) { return run(places, program, ""); });
  contest.run(settings.quick ? 2 : 6);
  Row row;
  row.group = "more than the pool holds";
  row.what = std::to_string(program.files * program.each) + " MiB, pool of " + size;
  row.against = "the disk itself";
  row.measured = bootstrap_median(contest.speed_ratios(0, 1));
  row.bar = Bar::at_least(0.9);
  row.ours_ns = contest.median(0);
  row.limit_ns = contest.median(1);
  row.pairs = contest.rounds();
  report.add(row);
  std::vector<double> ratios;
  for (size_t i = 0; i < wholes.size(); ++i) ratios.push_back(contest.times(1)[i] / wholes[i]);
  row.what += ", with start and end";
  row.measured = bootstrap_median(ratios);
  row.bar = Bar();
  row.ours_ns = median_of(wholes);
  report.add(row);
}

size_t files_in(const std::string& directory) {
  size_t files = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    files += entry.path().filename().string()[0] == 'f' ? 1 : 0;
  return files;
}

// How many bytes a second come to the directory in whole files of `size` bytes until the program
// ends, from the first such file to the last one. The first does not count, because nobody knows
// when its drain began.
double rate_meanwhile(const Places& places, double size, const std::function<void()>& runs) {
  shell("rm -rf '" + places.lower + "'/* '" + places.time + "'");
  std::atomic<bool> over{false};
  std::vector<double> came;
  std::thread watcher([&] {
    while (!over && access(places.time.c_str(), F_OK) != 0) {
      came.resize(std::max(came.size(), files_in(places.lower)), wall_ns());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  runs();
  over = true;
  watcher.join();
  if (came.size() < 3) return 0;
  return size * static_cast<double>(came.size() - 1) / (came.back() - came.front()) * 1e9;
}

// A program on one of two processors makes more than the disk takes, so the drain always has
// something to do: what the program loses by it, and what share of the disk's bandwidth the drain
// reaches before the program ends.
void add_beside(const Settings& settings, const Places& places, Report& report) {
  constexpr int each = 64;
  constexpr double size = each * double{megabyte};
  const int files = settings.quick ? 6 : 16;
  const std::string pool = std::to_string(files * each * 2) + "M";
  const std::string on_two = "taskset -c 0,1 env CAIRN_DRAIN_YIELD=off ";
  const Program plain = {settings.quick ? 3 : 8, each, 0};
  // A file in two thirds of its time on the disk.
  const Program program = {files, each, run(places, plain, "") / 1e9 / plain.files * 2 / 3, true};
  std::vector<double> rates;
  std::vector<double> shares;
  Contest contest;
  contest.add("async", [&](size_t) {
    double took = 0;
    rates.push_back(rate_meanwhile(places, size, [&] {
      took = run(places, program, on_two + covered(places, pool, "async"));
    }));
    return took;
  });
  contest.add("never", [&](size_t) {
    const double took = run(places, program, on_two + covered(places, pool, "never"));
    discard(places);
    return took;
  });
  contest.add("disk", [&](size_t) { return run(places, plain, ""); });
  contest.run(settings.quick ? 2 : 6);
  Row row;
  row.group = "one processor free";
  row.what = "async";
  row.against = "never";
  row.measured = bootstrap_median(contest.speed_ratios(0, 1));
  row.bar = Bar::at_least(0.9);
  row.ours_ns = contest.median(0);
  row.limit_ns = contest.median(1);
  row.pairs = contest.rounds();
  report.add(row);
  for (size_t i = 0; i < rates.size(); ++i)
    shares.push_back(rates[i] * contest.times(2)[i] / 1e9 / (size * plain.files));
  row.what = "bandwidth of the drain meanwhile";
  row.against = "the disk itself";
  row.measured = bootstrap_median(shares);
  row.bar = Bar::at_least(0.8);
  row.ours_ns = 0;
  row.limit_ns = contest.median(2);
  report.add(row);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  const Settings settings =
      parse_settings(argc, argv, "drains while a program runs, and more data than the pool holds");
  use_wall_clock();
  const char* given = std::getenv("CAIRN_BENCH_LOWER");
  std::string lower = std::string(given == nullptr ? "." : given) + "/bench-tiers-XXXXXX";
  std::string pools = "/dev/shm/bench-tiers-XXXXXX";
  if (mkdtemp(lower.data()) == nullptr || mkdtemp(pools.data()) == nullptr) {
    std::perror("bench_tiers");
    return 2;
  }
  char* const real = realpath(lower.c_str(), nullptr);
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string cairn = self.parent_path().parent_path() / "bin/cairn";
  const Places places = {cairn, real, pools, pools + "/time"};
  std::free(real);
  Report report;
  report.fact("machine", machine_name());
  report.fact("lower", places.lower);
  for (const char* mode : {"close", "async"})
    if (settings.wants("drained while the program runs"))
      add_meanwhile(settings, places, mode, report);
  if (settings.wants("one processor free")) add_beside(settings, places, report);
  if (settings.wants("more than the pool holds")) add_larger(settings, places, report);
  if (settings.wants("evicted")) add_evictions(settings, places.lower, places.pools, report);
  const int code = report.conclude(settings.json);
  shell("rm -rf '" + places.lower + "' '" + places.pools + "'");
  return code;
}
