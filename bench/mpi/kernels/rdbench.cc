// rdbench: a Gray-Scott reaction on a square, whose state is written every some steps.
//   rdbench [options] -o PREFIX
//   rdbench [options] --restart FILE
// A file is PREFIXLxL-WxH-STEP.bin, doubles of v. After each file, outside of all times, each rank
// reads the next rank's block back and compares it with what that rank holds.
// --restart reads a file on any number of ranks. It computes the steps again to verify it: the
// result does not depend on the split.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <regex>

#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"
#include "parts/rdbench_file.h"

namespace kernels {
namespace {

// Restart holds what the name of a file says of it.
struct Restart {
  Split writers;
  int64_t step = 0;
};

struct Options {
  Common common;
  RdbenchAccess access;
  std::string type_name = "view";
  std::string prefix = path_argument("o_");
  std::string restart;
  Restart from;  // what `restart` says
  Split split{128, 0, 0};
  int64_t steps = 20000;
  int64_t interval = 200;
  bool existing = false;
  bool initial_output = true;
};

IoType type_argument(const std::string& text) {
  if (text == "manual") return IoType::manual;
  return text == "chunk" ? IoType::chunk : IoType::view;
}

// The most even grid of so many ranks, as MPI_Dims_create makes it.
void split_evenly(int ranks, Split* split) {
  int fewer = static_cast<int>(std::sqrt(ranks));
  while (ranks % fewer != 0) --fewer;
  split->columns = fewer;
  split->rows = ranks / fewer;
}

void complete(Split* split, Mistakes* mistakes) {
  const int ranks = job().ranks;
  for (const int given : {split->columns, split->rows})
    if (given > 0 && ranks % given != 0) {
      mistakes->add("--xnp, --ynp: the number of ranks, " + std::to_string(ranks) +
                    ", is not a multiple of " + std::to_string(given));
      return;
    }
  if (split->columns == 0 && split->rows == 0)
    split_evenly(ranks, split);
  else if (split->columns == 0)
    split->columns = ranks / split->rows;
  else if (split->rows == 0)
    split->rows = ranks / split->columns;
  if (split->rows * split->columns != ranks)
    mistakes->add("--xnp, --ynp: their product is not the number of ranks, " +
                  std::to_string(ranks));
  else if (split->length % split->rows != 0 || split->length % split->columns != 0)
    mistakes->add("-L: invalid length " + std::to_string(split->length) +
                  ": expected a multiple of " + std::to_string(split->columns) + " and " +
                  std::to_string(split->rows));
  else if (split->length > INT_MAX || split->width() * split->height() > INT_MAX)
    mistakes->add("-L: invalid length " + std::to_string(split->length) +
                  ": a block would have 2^31 points or more");
}

// Any split may have written the file to restart from: its name tells which.
void parse_name(const std::string& path, int64_t length, Restart* restart, Mistakes* mistakes) {
  static const std::regex form("(\\d{1,9})x\\d+-(\\d{1,9})x(\\d{1,9})-(\\d{1,9})\\.bin$");
  std::smatch found;
  if (!std::regex_search(path, found, form)) {
    mistakes->add("--restart: not a name of rdbench: " + path + ": expected ...LxL-WxH-STEP.bin");
    return;
  }
  const auto number = [&](size_t group) { return std::stoll(found[group].str()); };
  const int64_t of_file = number(1), width = number(2), height = number(3);
  if (of_file != length)
    mistakes->add("-L: the file's square has the length " + std::to_string(of_file));
  else if (width < 1 || height < 1 || length % width != 0 || length % height != 0)
    mistakes->add("--restart: blocks that do not fill the square: " + path);
  else
    *restart = {{length, static_cast<int>(length / width), static_cast<int>(length / height)},
                number(4)};
}

const Description description = {
    .about = "a Gray-Scott reaction that writes its state by MPI-IO",
    .usage = "[options] -o PREFIX, or rdbench [options] --restart FILE",
    .accesses = {{"write", {"open", "transfer", "sync", "close"}},
                 {"read", {"open", "transfer", "close"}}},
    .verifies = "each value of the next rank's block, after each file",
    .bytes = {.medium = "(steps // interval + 1) * length * length * 8",
              .memory = "length * length * 48",
              .call = "length // rows(ranks) * 8 * "
                      "(1 if iotype == 'manual' else length * rows(ranks) // ranks)"},
};

Options parse(int argc, char** argv) {
  Options options;
  Arguments arguments(description, &options.common);
  arguments.flag("-c", "collective calls", &options.access.collective).as("collective");
  Option& no_sync =
      arguments.flag("--nosync", "no MPI_File_sync before close", &options.access.sync, false);
  no_sync.as_not("sync").key_standard = true;
  arguments
      .count("-L", "N", "length of the square's edge, a multiple of the blocks",
             &options.split.length, 1)
      .as("length");
  arguments.count("-s", "N", "steps of the reaction", &options.steps)
      .as("steps", int64_t{200})
      .grows("interval");
  arguments.count("-i", "N", "a file every N steps, and one before the first", &options.interval, 1)
      .as("interval", int64_t{20});
  arguments
      .choice("--iotype", "TYPE", "view, manual (a call for each row) or chunk (block by block)",
              {"view", "manual", "chunk"}, &options.type_name)
      .as("iotype");
  arguments.path("-o", "PREFIX", "files PREFIXLxL-WxH-STEP.bin", &options.prefix).in_run("o_");
  arguments
      .count("--xnp", "N", "blocks along x; default as MPI_Dims_create splits",
             &options.split.columns)
      .standard = {};
  arguments.count("--ynp", "N", "blocks along y", &options.split.rows).standard = {};
  arguments.flag("--disable-initial-output", "no file before the first step",
                 &options.initial_output, false);
  arguments.existing(&options.existing);
  arguments.flag("--collective", "-c", &options.access.collective);
  arguments.count("--length", "N", "-L", &options.split.length, 1).standard = {};
  arguments.count("--steps", "N", "-s", &options.steps).standard = {};
  arguments.count("--interval", "N", "-i", &options.interval, 1).standard = {};
  arguments.path("--output", "PREFIX", "-o", &options.prefix);
  arguments.flag("--novalidate", "--no-check", &options.common.check, false);
  arguments.ignored("--nomkdir", "", "the directory of PREFIX is never made");
  arguments.ignored("--prettify", "", "the JSON object stays on one line");
  arguments.ignored("-v", "", "more lines");
  arguments.ignored("--verbose", "", "more lines");
  arguments.path("--restart", "FILE", "read FILE, which any number of ranks wrote, and verify it",
                 &options.restart);
  arguments.parse(argc, argv, [&](Mistakes* mistakes) {
    if (!options.initial_output && options.steps < options.interval && options.restart.empty())
      mistakes->add("--disable-initial-output: " + std::to_string(options.steps) +
                    " steps write no file: expected at least -i, " +
                    std::to_string(options.interval));
    complete(&options.split, mistakes);
    if (!options.restart.empty())
      parse_name(options.restart, options.split.length, &options.from, mistakes);
  });
  options.access.type = type_argument(options.type_name);
  options.access.hints = options.common.hints;
  return options;
}

class Rdbench {
 public:
  explicit Rdbench(const Options& options)
      : options_(options), state_(options.split), existed_(options.existing) {
    report_.api = "MPIIO";
    report_.parameters = {{"layout", "shared"},
                          {"length", options.split.length},
                          {"xnp", options.split.columns},
                          {"ynp", options.split.rows},
                          {"iotype", options.type_name},
                          {"collective", options.access.collective ? 1 : 0},
                          {"fsync", options.access.sync ? 1 : 0},
                          {"steps", options.steps},
                          {"interval", options.interval}};
  }

  Report& run() {
    if (options_.initial_output) write(0);
    for (int64_t step = 1; step <= options_.steps; ++step) {
      advance();
      if (step % options_.interval == 0) write(step);
    }
    add("write", writing_, files_);
    read_last();
    if (!options_.common.keep) remove_files();
    report_.parameters.emplace_back("existing", existed_ ? 1 : 0);
    return report_;
  }

  Report& restart() {
    std::vector<double> block;
    RdbenchFile file(options_.access);
    Stopwatch watch;
    file.open(options_.restart, false);
    watch.lap("open");
    file.read_other(options_.from.writers, options_.split, &block);
    watch.lap("transfer");
    report_.hints = file.hints();
    file.close();
    watch.lap("close");
    add("read", watch.stop(), 1);
    if (!options_.common.check) return report_;
    for (int64_t i = 0; i < options_.from.step; ++i) advance();
    Check found;
    compare(own_block(), block, options_.restart, &found);
    found.gather();
    report_.checks.push_back(found);
    return report_;
  }

  [[nodiscard]] int64_t files() const { return files_; }
  [[nodiscard]] double calculating() const { return calculating_; }
  [[nodiscard]] double exchanging() const { return exchanging_; }

 private:
  [[nodiscard]] std::string path(int64_t step) const {
    char name[128];
    std::snprintf(name, sizeof name, "%lldx%lld-%lldx%lld-%06lld.bin",
                  static_cast<long long>(options_.split.length),
                  static_cast<long long>(options_.split.length),
                  static_cast<long long>(options_.split.width()),
                  static_cast<long long>(options_.split.height()), static_cast<long long>(step));
    return options_.prefix + name;
  }

  [[nodiscard]] int64_t file_bytes() const {
    const int64_t length = options_.split.length;
    return length * length * static_cast<int64_t>(sizeof(double));
  }

  void advance() {
    const double begin = MPI_Wtime();
    state_.exchange();
    const double middle = MPI_Wtime();
    state_.step();
    exchanging_ += middle - begin;
    calculating_ += MPI_Wtime() - middle;
  }

  void write(int64_t step) {
    RdbenchFile file(options_.access);
    if (job().rank == 0 && !options_.existing) remove_file(path(step));
    existed_ = existed_ && all_there(path(step), file_bytes());
    Stopwatch watch;
    file.open(path(step), true);
    watch.lap("open");
    file.write(state_);
    watch.lap("transfer");
    file.sync();
    watch.lap("sync");
    report_.hints = file.hints();
    file.close();
    watch.lap("close");
    writing_ += watch.stop();
    ++files_;
    last_ = step;
    if (options_.common.corrupt >= 0 && job().rank == 0 && files_ == 1)
      corrupt(path(step), options_.common.corrupt);
    MPI_Barrier(MPI_COMM_WORLD);
    if (options_.common.check) check(step);
  }

  [[nodiscard]] std::vector<double> own_block() const {
    const Split& split = options_.split;
    std::vector<double> block;
    block.reserve(static_cast<size_t>(split.width() * split.height()));
    for (int64_t y = 0; y < split.height(); ++y)
      block.insert(block.end(), state_.row(y), state_.row(y) + split.width());
    return block;
  }

  // The block of rank `owner`, which sends it: every rank calls with the same distance.
  [[nodiscard]] std::vector<double> block_of(int owner, int asker) const {
    std::vector<double> block = own_block();
    MPI_Sendrecv_replace(block.data(), static_cast<int>(block.size()), MPI_DOUBLE, asker, 0, owner,
                         0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return block;
  }

  static void compare(const std::vector<double>& expected, const std::vector<double>& got,
                      const std::string& path, Check* found) {
    found->compare(expected.data(), got.data(),
                   static_cast<int64_t>(expected.size() * sizeof(double)),
                   path + ": block of rank " + std::to_string(job().rank), 0);
  }

  [[nodiscard]] int after(int distance) const {
    return (job().rank + distance + job().ranks) % job().ranks;
  }

  void check(int64_t step) {
    std::vector<double> got;
    RdbenchFile file(options_.access);
    file.open(path(step), false);
    file.read(options_.split, after(1), &got);
    file.close();
    Check found;
    compare(block_of(after(1), after(-1)), got, path(step), &found);
    found.gather();
    report_.checks.push_back(found);
  }

  // The newest file, each rank another one's block: a restart.
  void read_last() {
    std::vector<double> got;
    RdbenchFile file(options_.access);
    Stopwatch watch;
    file.open(path(last_), false);
    watch.lap("open");
    file.read(options_.split, after(1), &got);
    watch.lap("transfer");
    file.close();
    watch.lap("close");
    add("read", watch.stop(), 1);
  }

  void remove_files() const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (job().rank != 0) return;
    for (int64_t step = 0; step <= last_; step += options_.interval) remove_file(path(step));
  }

  void add(const char* name, const Times& times, int64_t files) {
    const Split& split = options_.split;
    Access access;
    access.name = name;
    access.bytes = files * file_bytes();
    access.calls = files * job().ranks * RdbenchFile(options_.access).calls(split);
    access.block_bytes = split.width() * static_cast<int64_t>(sizeof(double));
    access.transfer_bytes = options_.access.type == IoType::manual
                                ? access.block_bytes
                                : access.block_bytes * split.height();
    access.times = times;
    access.seconds = times.last;
    if (std::strcmp(name, "write") == 0) access.original = "writeTimeSec";
    report_.accesses.push_back(access);
  }

  const Options& options_;
  GrayScott state_;
  Report report_;
  Times writing_;
  int64_t files_ = 0;
  int64_t last_ = 0;
  bool existed_;  // each write has met the file of an earlier command
  double calculating_ = 0;
  double exchanging_ = 0;
};

void print_restart(const Options& options, const Report& report) {
  const Access& access = report.accesses.front();
  std::printf("restart from %s: %.2f MiB/s, %.6f s, %lld bytes\n", options.restart.c_str(),
              access.rate(), access.seconds, static_cast<long long>(access.bytes));
  print_checks(report);
}

// rdbench's line, by its names.
void print_original(const Options& options, const Report& report, const Rdbench& bench,
                    double calculating, double exchanging) {
  const Split& split = options.split;
  const Access& access = report.accesses.front();
  const int64_t file_bytes = split.length * split.length * 8;
  std::printf(
      "{\"version\":\"cairn "
      "%s\",\"nprocs\":%d,\"xnp\":%d,\"ynp\":%d,\"L\":%lld,\"chunkSizeX\":%lld,"
      "\"chunkSizeY\":%lld,\"collective\":%s,\"iotype\":\"%s\",\"sync\":%s,\"validate\":%s,"
      "\"steps\":%lld,\"interval\":%lld,\"nfiles\":%lld,\"fileSize\":%lld,",
      CAIRN_VERSION, job().ranks, split.columns, split.rows, static_cast<long long>(split.length),
      static_cast<long long>(split.width()), static_cast<long long>(split.height()),
      options.access.collective ? "true" : "false", options.type_name.c_str(),
      options.access.sync ? "true" : "false", options.common.check ? "true" : "false",
      static_cast<long long>(options.steps), static_cast<long long>(options.interval),
      static_cast<long long>(bench.files()), static_cast<long long>(file_bytes));
  long long verified = 0;
  for (const Check& check : report.checks) verified += check.bytes / 8;
  std::printf(
      "\"totalWriteSizeByte\":%lld,\"calcTimeSec\":%.9f,\"commTimeSec\":%.9f,"
      "\"writeTimeSec\":%.9f,\"writeBandwidthByte\":%.2f,\"valuesVerified\":%lld,\"valid\":%s}\n",
      static_cast<long long>(access.bytes), calculating, exchanging, access.seconds,
      static_cast<double>(access.bytes) / access.seconds, verified,
      report.valid() ? "true" : "false");
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("rdbench", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  kernels::Rdbench bench(options);
  const kernels::Report& report = options.restart.empty() ? bench.run() : bench.restart();
  const double calculating = kernels::highest(bench.calculating());
  const double exchanging = kernels::highest(bench.exchanging());
  return kernels::finish(report, options.common.format, [&] {
    if (!options.restart.empty()) return kernels::print_restart(options, report);
    kernels::print_original(options, report, bench, calculating, exchanging);
  });
}
