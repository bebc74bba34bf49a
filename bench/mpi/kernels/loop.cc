// loop: an application that computes, writes its checkpoint over the last one, and computes again.
//   loop [options] -o FILE
// Every checkpoint has other data, so that an old one in its place is found. The first checkpoint
// meets no file and is an access of its own; the others are added up.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"
#include "common/sides.h"
#include "files/rank_region.h"

namespace kernels {
namespace {

enum class Way { rewrite, truncate, rename };

struct Options {
  Common common;
  Api api = Api::posix;
  std::string path;
  RankRegion region{false, 64 << 20, 1 << 20};
  int64_t checkpoints = 5;
  int64_t compute_ms = 50;
  Way way = Way::rewrite;
  std::string way_name = "rewrite";
  bool collective = false;
  bool fsync = false;
  bool existing = false;
  Sides sides;
};

Way way_argument(const std::string& text) {
  if (text == "truncate") return Way::truncate;
  return text == "rename" ? Way::rename : Way::rewrite;
}

const Description description = {
    .about = "checkpoints one over another, with compute in between",
    .usage = "[options] -o FILE",
    .accesses = {{"write-first", {"open", "transfer", "sync", "close", "replace"}},
                 {"write", {"open", "transfer", "sync", "close", "replace"}},
                 {"read", {"open", "transfer", "close"}}},
    .verifies = "every byte of the next rank's part of the last checkpoint",
    .bytes = {.medium = "ranks * size * (2 if way == 'rename' else 1)",
              .memory = "ranks * 3 * transfer",
              .call = "transfer"},
};

Options parse(int argc, char** argv) {
  Options options;
  Arguments arguments(description, &options.common);
  arguments.api("POSIX or MPIIO; default POSIX", {Api::posix, Api::mpiio}, &options.api).as("api");
  arguments.flag("-e", "fsync before close", &options.fsync).as("fsync");
  arguments.flag("-c", "collective calls (MPIIO)", &options.collective).as("collective");
  arguments
      .flag("-F", "one file per process, FILE.RANK with eight digits",
            &options.region.file_per_rank)
      .as_word("layout", "file-per-process", "shared", "shared");
  arguments.size("-b", "bytes of a rank in a checkpoint, a multiple of -t", &options.region.bytes)
      .as("size")
      .grows("transfer");
  arguments.size("-t", "bytes of one call, a multiple of 8", &options.region.transfer)
      .as("transfer");
  arguments.count("-n", "N", "checkpoints, the first one included", &options.checkpoints, 2)
      .as("checkpoints");
  arguments.count("-m", "N", "milliseconds of compute before each checkpoint", &options.compute_ms)
      .as("compute_ms");
  arguments
      .choice("--way", "WAY",
              "rewrite (in place), truncate (cut the old one first) or rename (write FILE.new, "
              "then rename it)",
              {"rewrite", "truncate", "rename"}, &options.way_name)
      .as("way");
  arguments.path("-o", "FILE", "the checkpoint", &options.path).needed().in_run("loop");
  arguments.existing(&options.existing, "1 if way == 'rewrite' else 0");
  side_arguments(&arguments, &options.sides);
  arguments.parse(argc, argv, [&](Mistakes* mistakes) {
    if (options.existing && options.way_name != "rewrite")
      mistakes->add("--existing: needs --way rewrite, the way that writes in place");
    if (options.collective && options.api != Api::mpiio) mistakes->add("-c: needs -a MPIIO");
    options.region.check_sizes(mistakes);
    check_call("-t", options.api, options.region.transfer, mistakes);
  });
  options.way = way_argument(options.way_name);
  return options;
}

// Arithmetic on a state for so long, as the application's time steps.
void compute(int64_t milliseconds) {
  static std::vector<double> state(1 << 16, 1.0);
  const double end = MPI_Wtime() + static_cast<double>(milliseconds) / 1e3;
  while (MPI_Wtime() < end)
    for (double& value : state) value = value * 0.999 + 0.001;
}

class Loop {
 public:
  explicit Loop(const Options& options)
      : options_(options),
        region_(options.region),
        pattern_(options.region.transfer, 0),
        buffer_(static_cast<size_t>(options.region.transfer)),
        owner_(options.sides.owner()) {
    report_.api = api_name(options.api);
    report_.parameters = {{"layout", region_.file_per_rank ? "file-per-process" : "shared"},
                          {"block_bytes", region_.bytes},
                          {"transfer_bytes", region_.transfer},
                          {"checkpoints", options.checkpoints},
                          {"compute_ms", options.compute_ms},
                          {"way", options.way_name},
                          {"collective", options.collective ? 1 : 0},
                          options.sides.parameter(),
                          {"fsync", options.fsync ? 1 : 0}};
  }

  Report& run() {
    if (options_.sides.write()) write_all();
    if (options_.sides.read()) add("read", read(), 1);
    if (options_.common.check) check();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!options_.common.keep) remove();
    report_.parameters.emplace_back("existing", existed_ ? 1 : 0);
    return report_;
  }

 private:
  [[nodiscard]] std::string path(int owner) const { return region_.path(options_.path, owner); }
  [[nodiscard]] int64_t file_bytes() const {
    return region_.bytes * (region_.file_per_rank ? 1 : job().ranks);
  }
  [[nodiscard]] bool leads() const { return region_.file_per_rank || job().rank == 0; }

  void write_all() {
    if (!options_.existing) remove();
    existed_ = options_.existing && all_there(path(job().rank), file_bytes());
    Times first, others;
    for (int64_t number = 0; number < options_.checkpoints; ++number) {
      pattern_.use_seed(number);
      pattern_.become_writer(job().rank);
      compute(options_.compute_ms);
      (number == 0 ? first : others) += write();
    }
    add("write-first", first, 1);
    add("write", others, options_.checkpoints - 1);
    if (options_.common.corrupt >= 0 && job().rank == 0) corrupt(path(0), options_.common.corrupt);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  [[nodiscard]] std::unique_ptr<File> make_file() const {
    if (options_.api == Api::posix) return posix_file();
    return mpi_file(!region_.file_per_rank, options_.collective, options_.common.hints);
  }

  // A shared file's next step waits for the rank that does it for all.
  void meet() const {
    if (!region_.file_per_rank) MPI_Barrier(MPI_COMM_WORLD);
  }

  void remove() const {
    if (leads()) remove_file(path(job().rank));
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void cut_old() const {
    if (leads() && ::truncate(path(job().rank).c_str(), 0) != 0 && errno != ENOENT)
      fail(path(job().rank), std::string("truncate failed: ") + std::strerror(errno));
    meet();
  }

  void replace(const std::string& fresh) const {
    meet();
    const std::string target = path(job().rank);
    if (leads() && std::rename(fresh.c_str(), target.c_str()) != 0)
      fail(fresh, std::string("rename failed: ") + std::strerror(errno));
    meet();
  }

  Times write() {
    std::string target = path(job().rank);
    if (options_.way == Way::rename) target += ".new";
    const auto file = make_file();
    Stopwatch watch;
    if (options_.way == Way::truncate) cut_old();
    file->open(target, Open::create);
    watch.lap("open");
    region_.write(*file, job().rank, &pattern_);
    watch.lap("transfer");
    if (options_.fsync) file->sync();
    watch.lap("sync");
    report_.hints = file->hints();
    file->close();
    watch.lap("close");
    if (options_.way == Way::rename) replace(target);
    watch.lap("replace");
    return watch.stop();
  }

  Times read() {
    const auto file = make_file();
    Stopwatch watch;
    file->open(path(owner_), Open::read);
    watch.lap("open");
    region_.read(*file, owner_, &buffer_);
    watch.lap("transfer");
    file->close();
    watch.lap("close");
    return watch.stop();
  }

  // The last checkpoint, each rank a part that it has not read.
  void check() {
    const int owner = (owner_ + 1) % job().ranks;
    Check found;
    pattern_.use_seed(options_.checkpoints - 1);
    pattern_.become_writer(owner);
    const auto file = make_file();
    file->open(path(owner), Open::read);
    region_.check(*file, path(owner), owner, &pattern_, &found);
    file->close();
    found.gather();
    report_.checks.push_back(found);
  }

  void add(const char* name, const Times& times, int64_t checkpoints) {
    Access access;
    access.name = name;
    access.calls = region_.transfers() * job().ranks * checkpoints;
    access.bytes = access.calls * region_.transfer;
    access.block_bytes = region_.bytes;
    access.transfer_bytes = region_.transfer;
    access.times = times;
    access.seconds = times.last;
    report_.accesses.push_back(access);
  }

  const Options& options_;
  const RankRegion& region_;
  Pattern pattern_;
  std::vector<char> buffer_;
  int owner_;             // of what this rank reads
  bool existed_ = false;  // the first checkpoint has met the files of an earlier command
  Report report_;
};

void print_original(const Options& options, const Report& report) {
  std::printf("loop: %lld checkpoints, %s, %lld ms of compute before each\n",
              static_cast<long long>(options.checkpoints), options.way_name.c_str(),
              static_cast<long long>(options.compute_ms));
  for (const Access& access : report.accesses)
    std::printf("%-12s %9.1f MiB/s  %.6f s, %lld bytes\n", access.name.c_str(), access.rate(),
                access.seconds, static_cast<long long>(access.bytes));
  print_checks(report);
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("loop", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  kernels::Loop loop(options);
  const kernels::Report& report = loop.run();
  return kernels::finish(report, options.common.format,
                         [&] { kernels::print_original(options, report); });
}
