// sedov: a shock-hydrodynamics mini-application (examples/sedov) that writes its state after each
// cycle, in the four ways of a study and Cairn's. Each is measured against copying the state with
// its CRC, and against the cycle's compute.
//   sedov [options] -o DIRECTORY
// All ways write the same state, one after another in an order that is drawn for each cycle. At the
// end each checkpoint is restored and compared.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>

#include "../sedov/pieces.h"
#include "../sedov/state_copy.h"
#include "../sedov/way.h"
#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"
#include "sedov/step.h"

namespace kernels {
namespace {

struct Options {
  Common common;
  sedov::WayPlace place;
  int64_t size = 30;
  int64_t cycles = 20;
  int64_t warmup = 5;
  std::vector<sedov::KnownWay> ways;
};

sedov::KnownWay way_of(const std::string& name) {
  const auto& ways = sedov::known_ways();
  return *std::find_if(ways.begin(), ways.end(),
                       [&](const sedov::KnownWay& way) { return name == way.name; });
}

bool needs_pmem(const sedov::KnownWay& way) {
  return std::strcmp(way.name, "persist") == 0 || std::strcmp(way.name, "drain") == 0;
}

// A formula of the state's bytes; ranks hold the nodes of common faces twice, at most all of them
// once more.
const std::string state_bytes = "88 * (size + (1 if ranks == 1 else 2)) ** 3";

// On the medium are three ways with a file per variable, and a pool of four states and 64 MiB. In
// memory are three states (the copy, the restored one), and the forces of elements on their
// corners.
const Description description = {
    .about = "a mini-application's checkpoints after each cycle, in four ways",
    .usage = "[options] -o DIRECTORY",
    .accesses = {{"file"}, {"persist"}, {"drain"}, {"cairn"}, {"copy"}},
    .verifies = "every element of each last checkpoint, restored into another state",
    .bytes = {.medium = "7 * " + state_bytes + " + 67108864",
              .memory = "8 * " + state_bytes,
              .call = ""},
};

constexpr int64_t most_elements = 10000;  // along an edge: 88 TB

void check(const Options& options, Mistakes* mistakes) {
  if (options.size > most_elements)
    mistakes->add("-s: invalid number " + std::to_string(options.size) + ": expected at most " +
                  std::to_string(most_elements));
  else if (sedov::decompose(options.size, job().ranks).ranks[0] == 0)
    mistakes->add("-s: " + std::to_string(options.size) + " elements cannot be divided among " +
                  std::to_string(job().ranks) + " ranks");
  for (const sedov::KnownWay& way : options.ways)
    if (needs_pmem(way) && !sedov::has_pmem())
      mistakes->add(std::string("--way: ") + way.name + ": this build has no libpmem");
  if (options.common.corrupt >= 0 && options.ways.size() == 1 &&
      std::strcmp(options.ways[0].name, "cairn") == 0)
    mistakes->add("--corrupt: a version of cairn has no file of its own: choose another --way");
}

Options parse(int argc, char** argv) {
  Options options;
  std::string last_way;
  Arguments arguments(description, &options.common);
  arguments.count("-s", "N", "elements along each edge of the mesh", &options.size, 1).as("size");
  arguments.count("-n", "N", "cycles that are measured", &options.cycles, 1).as("cycles").grows();
  Option& ways = arguments.choice(
      "--way", "WAY",
      "file (a file per variable, a flush of its stream after each element), persist (pmem_persist "
      "after each element), drain (pmem_flush after each element, one pmem_drain) or cairn (a "
      "version in a pool: that of cairn run, or one in DIRECTORY); may be repeated; default all",
      {"file", "persist", "drain", "cairn"}, &last_way);
  ways.as("way").take = [&, take = ways.take](const std::string& text) {
    take(text);
    options.ways.push_back(way_of(text));
  };
  arguments
      .path("-o", "DIRECTORY", "where files and pool go; made if it is missing",
            &options.place.directory)
      .needed()
      .in_run("sedov");
  arguments.count("--warmup", "N", "cycles before those that are measured", &options.warmup);
  arguments.flag("--whole-mapping",
                 "persist and drain flush the variable's whole mapping for each element",
                 &options.place.whole_mapping);
  arguments.parse(argc, argv, [&](Mistakes* mistakes) { check(options, mistakes); });
  if (options.ways.empty())
    for (const sedov::KnownWay& way : sedov::known_ways())
      if (!needs_pmem(way) || sedov::has_pmem()) options.ways.push_back(way);
  options.place.keep = options.common.keep;
  return options;
}

// Seconds of each measured cycle, of the slowest rank.
struct Series {
  std::string name;
  std::string about;
  std::function<void()> run;
  std::vector<double> seconds;
};

class Sedov {
 public:
  explicit Sedov(const Options& options)
      : options_(options),
        mesh_(sedov::decompose(options.size, job().ranks)),
        state_(mesh_, job().rank),
        hydro_(state_, MPI_COMM_WORLD),
        copy_(state_),
        bytes_(sum(static_cast<long long>(sedov::bytes_of(state_)))) {
    make_directory();
    for (const sedov::KnownWay& known : options.ways) {
      ways_.push_back(known.make(state_, options.place));
      sedov::Way* way = ways_.back().get();
      contenders_.push_back({known.name, known.about, [way] { way->write(); }, {}});
    }
    contenders_.push_back({"copy", "copy with CRC", [this] { crc_ = crc_ ^ copy_.make(); }, {}});
    report_.api = "checkpoint";
    report_.parameters = {{"size", options.size},
                          {"cycles", options.cycles},
                          {"warmup", options.warmup},
                          {"state_bytes", bytes_},
                          {"whole_mapping", options.place.whole_mapping ? 1 : 0}};
  }

  Report& run() {
    std::vector<size_t> order(contenders_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::minstd_rand random(1);  // the same order on all ranks
    for (int64_t cycle = -options_.warmup; cycle < options_.cycles; ++cycle) {
      const Times computed = timed([this] { hydro_.advance(no_end); });
      if (cycle >= 0) compute_.push_back(computed.last);
      std::shuffle(order.begin(), order.end(), random);
      for (const size_t i : order) {
        const Times times = timed(contenders_[i].run);
        if (cycle >= 0) add(&contenders_[i], static_cast<int>(cycle), times);
      }
    }
    add_compute();
    corrupt_a_file();
    for (size_t i = 0; i < ways_.size(); ++i)
      if (options_.common.check) check(contenders_[i].name, *ways_[i]);
    ways_.clear();
    MPI_Barrier(MPI_COMM_WORLD);
    if (job().rank == 0 && !options_.common.keep) rmdir(options_.place.directory.c_str());
    return report_;
  }

  void print() const;

 private:
  static constexpr double no_end = 1e300;

  void make_directory() const {
    const std::string& path = options_.place.directory;
    if (job().rank == 0 && mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      fail(path, std::string("mkdir failed: ") + std::strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
  }

  static Times timed(const std::function<void()>& run) {
    Stopwatch watch;
    run();
    watch.lap("transfer");
    return watch.stop();
  }

  void add(Series* series, int cycle, const Times& times) {
    series->seconds.push_back(times.last);
    Access access;
    access.name = series->name;
    access.repetition = cycle;
    access.bytes = bytes_;
    access.calls = bytes_ / static_cast<int64_t>(sedov::element_bytes);
    access.block_bytes = static_cast<int64_t>(sedov::bytes_of(state_));
    access.transfer_bytes = sedov::element_bytes;
    access.times = times;
    access.seconds = times.last;
    access.original = "checkpoint[s]";
    report_.accesses.push_back(access);
  }

  // Nanoseconds of a cycle's compute, for the readers of the JSON object.
  void add_compute() {
    std::vector<double> sorted = compute_;
    std::sort(sorted.begin(), sorted.end());
    const auto ns = [](double seconds) { return static_cast<int64_t>(seconds * 1e9); };
    report_.parameters.emplace_back("compute_ns_median", ns(sorted[sorted.size() / 2]));
    report_.parameters.emplace_back("compute_ns_least", ns(sorted.front()));
    report_.parameters.emplace_back("compute_ns_most", ns(sorted.back()));
  }

  // In the first way that has files.
  void corrupt_a_file() const {
    if (options_.common.corrupt < 0) return;
    for (const auto& way : ways_) {
      if (way->file().empty()) continue;
      if (job().rank == 0) corrupt(way->file(), options_.common.corrupt);
      break;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void check(const std::string& name, sedov::Way& way) {
    sedov::State restored(mesh_, job().rank);
    way.restore(restored);
    Check found;
    const std::vector<sedov::Piece> expected = sedov::pieces_of(state_);
    const std::vector<sedov::Piece> got = sedov::pieces_of(restored);
    for (size_t i = 0; i < expected.size(); ++i)
      found.compare(expected[i].data, got[i].data, static_cast<int64_t>(expected[i].bytes),
                    name + ": " + expected[i].name, 0);
    found.gather();
    report_.checks.push_back(found);
  }

  const Options& options_;
  sedov::Decomposition mesh_;
  sedov::State state_;
  sedov::Hydro hydro_;
  sedov::StateCopy copy_;
  int64_t bytes_;  // of the state of all ranks
  volatile uint32_t crc_ = 0;
  std::vector<std::unique_ptr<sedov::Way>> ways_;
  std::vector<Series> contenders_;  // the ways, then the copy
  std::vector<double> compute_;
  Report report_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename Of>
double median_of(size_t count, const Of& of) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = of(i);
  return median(std::move(values));
}

void print_times(const std::string& name, const std::vector<double>& seconds) {
  std::printf("%-40s %9.3f %9.3f %9.3f", name.c_str(), median(seconds) * 1e3,
              *std::min_element(seconds.begin(), seconds.end()) * 1e3,
              *std::max_element(seconds.begin(), seconds.end()) * 1e3);
}

void Sedov::print() const {
  std::printf("sedov: %lld^3 elements, %d ranks, %.2f MiB of state, %lld cycles\n",
              static_cast<long long>(options_.size), job().ranks, static_cast<double>(bytes_) / mib,
              static_cast<long long>(options_.cycles));
  std::printf("%-40s %9s %9s %9s %11s %10s %12s\n", "", "median ms", "least", "most", "of the copy",
              "of a cycle", "less copy");
  print_times("compute of a cycle", compute_);
  std::printf("\n");
  const Series& copied = contenders_.back();
  for (const Series& each : contenders_) {
    const size_t count = compute_.size();
    print_times(each.about, each.seconds);
    std::printf(" %10.2fx %9.2f%% %11.2f%%\n",
                median_of(count, [&](size_t i) { return each.seconds[i] / copied.seconds[i]; }),
                100 * median_of(count, [&](size_t i) { return each.seconds[i] / compute_[i]; }),
                100 * median_of(count, [&](size_t i) {
                  return (each.seconds[i] - copied.seconds[i]) / compute_[i];
                }));
  }
  print_checks(report_);
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("sedov", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  kernels::Sedov sedov(options);
  const kernels::Report& report = sedov.run();
  return kernels::finish(report, options.common.format, [&] { sedov.print(); });
}
